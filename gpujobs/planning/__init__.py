"""What next month will cost, and which way of serving is the cheapest that answers in time. No database, no network.

    assumptions   every price and guess as a named row: source, as_of, replaceable
    arrivals      who sends what in a day                 scaler, endpoint, site   that day, simulated
    hours         the same day as rates, hour by hour     fluid                    cost and waits without simulating
    money         integer nano-dollars                    ways                     each way to serve, priced
    tuning        idle seconds, scaler, workers for the least cost within the wish
    scale         cost from 100 to 10,000,000 daily users, crossing points, break-even
    founder       the founder's table, derived            planner                  all of it as one plan
    telling       the plan in words for a terminal

May be imported by the command `plan`, the staff's page, benchmarks and the loopback RunPod of the tests.
"""
