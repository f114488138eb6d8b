"""One command runs InkCloak on a bare machine, one tests it: `python -m devstack run | test | …`.

Standard library only, because it runs before anything is installed; nothing of the product imports it.

    __main__    the command line              commands   run, stop, reset, logs, manage
    checkout    where things lie              testing    test, lint: throw-away services around pytest
    install     .venv and its stamp           browser    which Chromium the browser tests drive
    programs    THE TABLE of processes        gpu_demo, payment_demo   with the loopback RunPod, Stripe
    rehearsal   the product for one tool      stack      steps, programs, ready line: up, watch, down
    supervisor  starts, restarts, stops       child      one supervised process
    django_commands  migrations and the like, in the virtual environment
    services    which Postgres and Redis      postgres, redis_server   one server each
    privileges  root becomes somebody else    leftovers  what a killed run left behind
    lock        one stack per checkout        ports      free ports, who holds one
    envfile     KEY=VALUE files               console    progress on a terminal or in a log

Each server and process is a child of the supervisor, in a session of its own, told by the kernel to end when
the supervisor ends; every lock dies with its holder. So a kill -9 of anything leaves nothing to clean up.
"""
