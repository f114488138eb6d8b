"""Stripe on loopback: one real HTTP server with memory, which the unmodified SDK talks to, for the calls we make.

    clock      the movable clock with its timers              store      objects, lists with cursors, repeatable ids
    shapes     the keys of each object class                  world      the account: all of it on one clock
    errors     errors as Stripe answers them                  encoding   items[0][price]=x
    money      integer money: prorations, fees; pure          cards      the test cards and what each does; pure
    faults     what shall go wrong, and how often             guard      this machine only
    catalogue  products, prices     discounts  coupons, promotion codes     customers  tax ids and cards too
    lines      an invoice's lines and sums   charging  cards charged, balance   invoicing  one invoice's life
    subscriptions  made and ended            renewals  what time does to one     changes    what we ask of one
    schedules  a change at a period's end    subscription_api, invoice_api       their handlers
    meters     counted use                   money_back refunds, disputes
    checkout   sessions             portal     the billing portal         endpoints  webhook endpoints, events
    parameters what the SDK's types allow
    routes     which handler answers what    gate      key, idempotency, faults around each     expanding  `expand`
    deliveries signed webhooks, sent, held or lost    html, pages, portal_page    what a customer's browser sees
    control    the director's door  client     the same door for tests     launcher, fixtures   as a child process
    keeping    a state file for the demo       shop   what most tests need of an account
    serve      the server           examples.json      Stripe's own example objects (MIT, see its `source`)

`python -m tests.loopback.stripe` runs it by itself. docs/stripe-double.md says what differs from the real one.
Nothing here may be imported by the product.
"""
