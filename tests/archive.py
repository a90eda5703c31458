#!/usr/bin/env python3
"""archive.py duckdb|spark DOCUMENT: makes the views of docs/archive.md in the working directory, asks its questions, and prints
the answers as JSON: [{"question", "columns", "rows", "seconds", "cpu_seconds"}]."""
import json, re, sys, time


def blocks(text):
    """The document's code: (last heading, what stands after the fence, code)."""
    heading = ""
    for found in re.finditer(r"^#+ ([^\n]*)$|^```(\w[^\n]*)\n(.*?)^```$", text, re.M | re.S):
        if found[1]:
            heading = found[1]
        else:
            yield heading, found[2], found[3]


def duckdb():
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")

    def ask(sql):
        answer = connection.execute(sql)
        return [column[0] for column in answer.description], answer.fetchall()

    return ask, lambda kind, code: kind == "sql duckdb" and connection.execute(code)


def spark():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", "4")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")

    def ask(sql):
        answer = session.sql(sql)
        return answer.columns, [tuple(row) for row in answer.collect()]

    return ask, lambda kind, code: kind == "python" and exec(code, {"spark": session})


ask, prepare = {"duckdb": duckdb, "spark": spark}[sys.argv[1]]()
answers = []
for heading, kind, code in blocks(open(sys.argv[2]).read()):
    if kind == "sql":
        began, worked = time.monotonic(), time.process_time()
        columns, rows = ask(code)
        seconds, cpu = time.monotonic() - began, time.process_time() - worked
        answers.append({"question": heading, "columns": columns, "rows": rows, "seconds": seconds, "cpu_seconds": cpu})
    else:
        prepare(kind, code)
json.dump(answers, sys.stdout, default=str)
