"""Where machines and endpoints are rented: one narrow client module per provider. No ORM inside.

runpod_rest     RunPod's management API (REST v2), and the one GraphQL query that knows the balance
"""
