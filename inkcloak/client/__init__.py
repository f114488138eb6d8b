"""What speaks to InkCloak from outside: needs no Django, and nothing of this project but itself."""
