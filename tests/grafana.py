#!/usr/bin/env python3
"""grafana.py FOLDER ARCHIVE FROM TO NAME=VALUE …: what Grafana would show of an archive with deploy/grafana's dashboard and data source.

Prints as JSON: "lost", what Grafana's own model of dashboards (grafana-foundation-sdk) does not know; "variables", the choices that
each variable offers; "panels" and "annotations", rows by title. The first choice is taken, or all, or the VALUE given for NAME."""
import json, re, sys, textwrap

import duckdb
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models import dashboard as model

folder, archive, begin, end = sys.argv[1:5]
wanted = dict(word.split("=", 1) for word in sys.argv[5:])
dashboard = json.load(open(folder + "/fleet.json"))
datasource = open(folder + "/datasource.yml").read()

register_default_plugins()
known = json.loads(JSONEncoder(sort_keys=True).encode(model.Dashboard.from_json(dashboard)))


def lost(given, kept, path=""):
    """What is in one value and not in the other."""
    if isinstance(given, dict) and isinstance(kept, dict):
        # The model leaves the queries of annotations to data sources.
        return [gone for key in given if not path.endswith(".target") for gone in
                (lost(given[key], kept[key], f"{path}.{key}") if key in kept else [f"{path}.{key}"])]
    if isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        return [gone for place, pair in enumerate(zip(given, kept)) for gone in lost(*pair, f"{path}[{place}]")]
    return [] if given == kept else [path]


connection = duckdb.connect()
init = re.search(r"^( +)initSql: \|\n((?:\1 .*\n|\n)+)", datasource, re.M)[2]
connection.execute(textwrap.dedent(init).replace("ARCHIVE", archive))
chosen = {}


def quoted(value):
    return ", ".join("'" + str(one).replace("'", "''") + "'" for one in (value if isinstance(value, list) else [value]))


def ask(sql):
    # The plugin's macro is grafana-plugin-sdk-go's; variables are written as Grafana formats them.
    sql = re.sub(r"\$__timeFilter\((\w+)\)", rf"\1 >= '{begin}' AND \1 <= '{end}'", sql)
    sql = re.sub(r"\$\{(\w+):sqlstring\}", lambda found: quoted(chosen[found[1]]), sql)
    sql = re.sub(r"\$\{(\w+)\}", lambda found: str(chosen[found[1]]), sql)
    assert "$" not in sql, sql
    answer = connection.execute(sql)
    return {"columns": [column[0] for column in answer.description], "rows": answer.fetchall()}


variables = {}
for variable in dashboard["templating"]["list"]:
    name = variable["name"]
    choices = variables[name] = [row[0] for row in ask(variable["query"])["rows"]]
    chosen[name] = wanted.get(name) or (choices if variable.get("multi") else choices[0])
panels = {}
for panel in dashboard["panels"]:
    (target,) = panel["targets"]
    # A panel for each value has that value alone.
    every = chosen[panel["repeat"]] if "repeat" in panel else [None]
    before = dict(chosen)
    for value in every if isinstance(every, list) else [every]:
        if value is not None:
            chosen[panel["repeat"]] = value
        title = re.sub(r"\$(\w+)", lambda found: str(chosen[found[1]]), panel["title"])
        panels[title] = ask(target["rawSql"])
    chosen.update(before)
annotations = {note["name"]: ask(note["target"]["rawSql"]) for note in dashboard["annotations"]["list"]}
result = {"lost": lost(dashboard, known), "variables": variables, "panels": panels, "annotations": annotations, "grid": [p["gridPos"] for p in dashboard["panels"]]}
json.dump(result, sys.stdout, default=str)
