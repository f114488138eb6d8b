"""RunPod on loopback: one real HTTP server that behaves as ../shared/reference describes, around real SDK workers.

    clock       the movable clock of everything below       faults      what shall go wrong, and how often
    jobs        one job: states, times, what a client sees  jobqueue    an endpoint's jobs: submit, take, finish, expire
    scaler      how many workers are wanted, pure           fleet       an endpoint's workers: start, idle stop, crash
    workers     one worker's life                           processes   child processes, and the guard that ends them
    settings    an endpoint as REST v2 writes it            endpoint    settings + queue + fleet of one endpoint
    ledger      what lifetimes cost, in nano-dollars        limits      sizes and rates
    world       the account: all of the above, ticking      webhooks    deliveries and their retries
    gate        key, faults, limits, log of each request    problem     errors of REST v2
    data_plane  run, status, cancel …   worker_plane  job-take, job-done …   rest_*  REST v2   graphql  the balance
    control     the director's door: clock, faults, bill    client      the same door for tests, over HTTP
    serve       the server, in a thread or as `python -m tests.loopback.runpod`    example_worker  a trivial handler

HTTP is aiohttp's: the RunPod SDK itself needs it, so it is there wherever a worker runs, and it tells a handler when
the other side hung up, without which a job would be handed to a worker that died in its long poll.
Nothing here may be imported by the product.
"""
