"""Alerts about money: on trends, not on single peaks. From the pure core outward:

series      what is looked at: all, a service, a model version, a provider's GPU type, each by the hour
baseline    what an hour ordinarily costs there, by weekday and hour, and how far windows stray from it
rules       what is out of the ordinary now: a trend, a forgotten machine, a moved price, a month past its budget
states      ok -> pending -> firing -> recovering -> ok
turns       one hour's findings -> moves of watches, and what is worth a message
reading     rows -> series          watching    a turn with rows: the only writer of watches and alerts
telling     an alert in words       sending     deliveries by mail and webhook
showing     the staff's log: what fires, votes, precision        judging    votes and mutes
"""
