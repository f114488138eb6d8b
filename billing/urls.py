"""Pages about one's account that are this app's own."""

from django.urls import path

from billing.views import change, keys, payment, plan, pricing, stripe_hook, team

app_name = "billing"
urlpatterns = [
    path("keys/", keys.keys_page, name="keys"),
    path("keys/<uuid:key_id>/rename", keys.rename, name="rename_key"),
    path("keys/<uuid:key_id>/rotate", keys.rotate, name="rotate_key"),
    path("keys/<uuid:key_id>/revoke", keys.revoke, name="revoke_key"),
    path("hooks/stripe/", stripe_hook.receive, name="stripe_hook"),
    path("pricing/", pricing.show, name="pricing"),
    path("plan/", plan.show, name="plan"),
    path("plan/checkout", payment.start, name="checkout"),
    path("plan/return/", payment.returned, name="plan_return"),
    path("plan/change/", change.change, name="change"),
    path("plan/cancel/", change.cancel, name="cancel"),
    path("plan/pause", change.pause, name="pause"),
    path("plan/resume", change.resume, name="resume"),
    path("plan/portal", payment.open_portal, name="portal"),
    path("team/", team.show, name="team"),
    path("team/invite", team.invite, name="invite"),
    path("team/invitations/<uuid:invitation_id>/revoke", team.revoke, name="revoke_invitation"),
    path("team/members/<int:membership_id>/role", team.set_role, name="member_role"),
    path("team/members/<int:membership_id>/remove", team.remove, name="member_remove"),
    path("team/switch", team.switch, name="switch_account"),
    path("team/join/<str:token>/", team.join, name="join"),
]
