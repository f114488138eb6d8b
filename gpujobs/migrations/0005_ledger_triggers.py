"""The ledger's rules where no writer can forget them: entries are never changed, and every insert keeps the sums.

TRUNCATE is refused too, but in databases for tests, which Django empties by it.
"""

from django.db import migrations

FORWARD = """
CREATE FUNCTION gpujobs_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' AND current_database() LIKE 'test\\_%' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER cost_entry_append_only BEFORE UPDATE OR DELETE ON gpujobs_costentry
    FOR EACH ROW EXECUTE FUNCTION gpujobs_append_only();
CREATE TRIGGER cost_entry_no_truncate BEFORE TRUNCATE ON gpujobs_costentry
    FOR EACH STATEMENT EXECUTE FUNCTION gpujobs_append_only();
CREATE TRIGGER price_append_only BEFORE UPDATE OR DELETE ON gpujobs_price
    FOR EACH ROW EXECUTE FUNCTION gpujobs_append_only();

CREATE FUNCTION gpujobs_sum_costs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- In one order, so that two inserts never wait for each other in a circle.
    INSERT INTO gpujobs_costquarter AS sums
        (start, kind, service, provider, gpu_type, model_version, entries, milliseconds, amount_nanousd)
    SELECT date_bin('15 minutes', at, TIMESTAMPTZ '2000-01-01 00:00:00+00') AS quarter,
           kind, service, provider, gpu_type, model_version,
           count(*), coalesce(sum(milliseconds), 0), sum(amount_nanousd)
    FROM fresh GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (start, kind, service, provider, gpu_type, model_version) DO UPDATE SET
        entries = sums.entries + excluded.entries,
        milliseconds = sums.milliseconds + excluded.milliseconds,
        amount_nanousd = sums.amount_nanousd + excluded.amount_nanousd;
    INSERT INTO gpujobs_accountquarter AS sums (start, account_id, service, entries, amount_nanousd)
    SELECT date_bin('15 minutes', at, TIMESTAMPTZ '2000-01-01 00:00:00+00') AS quarter,
           coalesce(account_id, '00000000-0000-0000-0000-000000000000'::uuid), service,
           count(*), sum(amount_nanousd)
    FROM fresh GROUP BY 1, 2, 3 ORDER BY 2, 1, 3
    ON CONFLICT (account_id, start, service) DO UPDATE SET
        entries = sums.entries + excluded.entries,
        amount_nanousd = sums.amount_nanousd + excluded.amount_nanousd;
    RETURN NULL;
END $$;

CREATE TRIGGER cost_entry_sums AFTER INSERT ON gpujobs_costentry
    REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION gpujobs_sum_costs();
"""

BACK = """
DROP TRIGGER cost_entry_sums ON gpujobs_costentry;
DROP FUNCTION gpujobs_sum_costs();
DROP TRIGGER price_append_only ON gpujobs_price;
DROP TRIGGER cost_entry_no_truncate ON gpujobs_costentry;
DROP TRIGGER cost_entry_append_only ON gpujobs_costentry;
DROP FUNCTION gpujobs_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("gpujobs", "0004_costs")]

    operations = [migrations.RunSQL(FORWARD, BACK)]
