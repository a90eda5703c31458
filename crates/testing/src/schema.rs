//! JSON Schema, as far as the schemas of docs/ use it. A complaint names the place in the value:
//! `it.rows[3].name`.

use serde_json::Value;

/// The first complaint about `value` by the definition `name` of a schema; `None` if it fits.
pub fn complaint_of(value: &Value, schema: &Value, name: &str) -> Option<String> {
    find_complaint(value, &schema["$defs"][name], schema, name)
}

/// The first complaint about `value` by a whole schema; `None` if it fits.
pub fn complaint(value: &Value, schema: &Value) -> Option<String> {
    find_complaint(value, schema, schema, "it")
}

fn find_complaint(value: &Value, schema: &Value, root: &Value, place: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").unwrap();
        return find_complaint(value, &root["$defs"][name], root, place);
    }

    let types = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        name => name.as_str().into_iter().collect::<Vec<_>>(),
    };
    if !types.is_empty() && !types.iter().any(|name| has_type(value, name)) {
        return Some(format!("{place} is {value} and not {types:?}"));
    }

    let is_other = schema.get("const").is_some_and(|wanted| wanted != value)
        || schema["enum"].as_array().is_some_and(|all| !all.contains(value))
        || schema["minimum"].as_f64().zip(value.as_f64()).is_some_and(|(min, value)| value < min);
    if is_other {
        return Some(format!("{place} is {value}"));
    }

    if let Some(object) = value.as_object() {
        let mut required = schema["required"].as_array().into_iter().flatten();
        let missing =
            required.find_map(|name| name.as_str().filter(|name| !object.contains_key(*name)));
        if let Some(name) = missing {
            return Some(format!("{place} has no {name}"));
        }
    }

    for (name, item) in value.as_object().into_iter().flatten() {
        let item_place = format!("{place}.{name}");
        let property = schema["properties"].get(name);
        let complaint = match property.or(schema.get("additionalProperties")) {
            Some(Value::Bool(false)) => Some(format!("{item_place} is unknown")),
            Some(schema) => find_complaint(item, schema, root, &item_place),
            None => None,
        };
        if complaint.is_some() {
            return complaint;
        }
    }

    let item_schema = schema.get("items")?;
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        let complaint = find_complaint(item, item_schema, root, &format!("{place}[{number}]"));
        if complaint.is_some() {
            return complaint;
        }
    }

    None
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("an unknown type {other}"),
    }
}
