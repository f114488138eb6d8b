"""Which handler answers what. The third column names the SDK's parameter type: a parameter it lacks is refused."""

from typing import NamedTuple

from tests.loopback.stripe import (
    catalogue,
    charging,
    checkout,
    customers,
    discounts,
    endpoints,
    invoice_api,
    meters,
    money_back,
    portal,
    schedules,
    subscription_api,
)
from tests.loopback.stripe.world import Handler


class Route(NamedTuple):
    """One operation of the API."""

    method: str
    path: str
    params: str  # of stripe.params; empty = none but expand
    handler: Handler


def _crud(path: str, name: str, **turns: Handler) -> list[Route]:
    shapes = {
        "create": ("POST", path, "Create"), "get": ("GET", path + "/{id}", "Retrieve"),
        "update": ("POST", path + "/{id}", "Update"), "delete": ("DELETE", path + "/{id}", "Delete"),
        "every": ("GET", path, "List"),
    }  # fmt: skip
    return [Route(shapes[turn][0], shapes[turn][1], f"{name}{shapes[turn][2]}Params", handler)
            for turn, handler in turns.items()]  # fmt: skip


S = subscription_api
TABLE: list[Route] = [
    *_crud("/v1/products", "Product", create=catalogue.create_product, get=catalogue.get_product,
           update=catalogue.update_product, delete=catalogue.delete_product, every=catalogue.list_products),
    *_crud("/v1/prices", "Price", create=catalogue.create_price, get=catalogue.get_price,
           update=catalogue.update_price, every=catalogue.list_prices),
    *_crud("/v1/coupons", "Coupon", create=discounts.create_coupon, get=discounts.get_coupon,
           update=discounts.update_coupon, delete=discounts.delete_coupon, every=discounts.list_coupons),
    *_crud("/v1/promotion_codes", "PromotionCode", create=discounts.create_promotion_code,
           get=discounts.get_promotion_code, update=discounts.update_promotion_code,
           every=discounts.list_promotion_codes),
    *_crud("/v1/customers", "Customer", create=customers.create, get=customers.get, update=customers.update,
           delete=customers.delete, every=customers.every),
    Route("POST", "/v1/customers/{id}/tax_ids", "CustomerTaxIdCreateParams", customers.create_tax_id),
    Route("GET", "/v1/customers/{id}/tax_ids", "CustomerTaxIdListParams", customers.list_tax_ids),
    Route("GET", "/v1/customers/{id}/tax_ids/{tax_id}", "", customers.get_tax_id),
    Route("DELETE", "/v1/customers/{id}/tax_ids/{tax_id}", "", customers.delete_tax_id),
    Route("GET", "/v1/customers/{id}/payment_methods", "CustomerPaymentMethodListParams", customers.list_cards),
    Route("GET", "/v1/customers/{id}/payment_methods/{method}", "", customers.get_card),
    Route("GET", "/v1/payment_methods", "PaymentMethodListParams", customers.list_cards),
    Route("GET", "/v1/payment_methods/{id}", "", customers.get_card),
    Route("POST", "/v1/payment_methods/{id}/attach", "PaymentMethodAttachParams", customers.attach),
    Route("POST", "/v1/payment_methods/{id}/detach", "", customers.detach),
    *_crud("/v1/checkout/sessions", "checkout.Session", create=checkout.create, get=checkout.get, every=checkout.every),
    Route("GET", "/v1/checkout/sessions/{id}/line_items", "checkout.SessionLineItemListParams", checkout.list_lines),
    Route("POST", "/v1/checkout/sessions/{id}/expire", "", checkout.expire),
    *_crud("/v1/billing_portal/configurations", "billing_portal.Configuration", create=portal.create_configuration,
           get=portal.get_configuration, update=portal.update_configuration, every=portal.list_configurations),
    Route("POST", "/v1/billing_portal/sessions", "billing_portal.SessionCreateParams", portal.create_session),
    *_crud("/v1/subscriptions", "Subscription", create=S.create, get=S.get, update=S.update, every=S.every),
    Route("DELETE", "/v1/subscriptions/{id}", "SubscriptionCancelParams", S.cancel),
    Route("POST", "/v1/subscriptions/{id}/resume", "SubscriptionResumeParams", S.resume),
    *_crud("/v1/subscription_items", "SubscriptionItem", create=S.create_item, get=S.get_item, update=S.update_item,
           delete=S.delete_item, every=S.list_items),
    *_crud("/v1/subscription_schedules", "SubscriptionSchedule", create=schedules.create, get=schedules.get,
           update=schedules.update, every=schedules.every),
    Route("POST", "/v1/subscription_schedules/{id}/release", "SubscriptionScheduleReleaseParams", schedules.release),
    Route("POST", "/v1/subscription_schedules/{id}/cancel", "SubscriptionScheduleCancelParams", schedules.cancel),
    Route("POST", "/v1/invoices/create_preview", "InvoiceCreatePreviewParams", invoice_api.create_preview),
    *_crud("/v1/invoices", "Invoice", get=invoice_api.get_invoice, update=invoice_api.update_invoice,
           every=invoice_api.list_invoices),
    Route("GET", "/v1/invoices/{id}/lines", "InvoiceLineItemListParams", invoice_api.list_lines),
    Route("POST", "/v1/invoices/{id}/pay", "InvoicePayParams", invoice_api.pay_invoice),
    Route("POST", "/v1/invoices/{id}/finalize", "InvoiceFinalizeInvoiceParams", invoice_api.finalize_invoice),
    Route("POST", "/v1/invoices/{id}/void", "", invoice_api.void_invoice),
    Route("POST", "/v1/invoices/{id}/mark_uncollectible", "", invoice_api.give_up_invoice),
    *_crud("/v1/invoice_payments", "InvoicePayment", get=charging.get_payment, every=charging.list_payments),
    *_crud("/v1/payment_intents", "PaymentIntent", get=charging.get_intent, every=charging.list_intents),
    *_crud("/v1/charges", "Charge", get=charging.get_charge, every=charging.list_charges),
    *_crud("/v1/refunds", "Refund", create=money_back.create_refund, get=money_back.get_refund,
           update=money_back.update_refund, every=money_back.list_refunds),
    *_crud("/v1/disputes", "Dispute", get=money_back.get_dispute, every=money_back.list_disputes),
    Route("POST", "/v1/disputes/{id}/close", "", money_back.give_in),
    *_crud("/v1/balance_transactions", "BalanceTransaction", get=charging.get_entry, every=charging.list_entries),
    Route("GET", "/v1/balance", "", charging.get_balance),
    *_crud("/v1/billing/meters", "billing.Meter", create=meters.create, get=meters.get, update=meters.update,
           every=meters.every),
    Route("POST", "/v1/billing/meters/{id}/deactivate", "", meters.deactivate),
    Route("POST", "/v1/billing/meters/{id}/reactivate", "", meters.reactivate),
    Route("GET", "/v1/billing/meters/{id}/event_summaries", "billing.MeterEventSummaryListParams", meters.summaries),
    Route("POST", "/v1/billing/meter_events", "billing.MeterEventCreateParams", meters.add_event),
    *_crud("/v1/webhook_endpoints", "WebhookEndpoint", create=endpoints.create, get=endpoints.get,
           update=endpoints.update, delete=endpoints.delete, every=endpoints.every),
    *_crud("/v1/events", "Event", get=endpoints.get_event, every=endpoints.list_events),
]  # fmt: skip
