//! `deploy/kubernetes`: the manifest is what Kubernetes takes, and what its pods log makes a fleet
//! run. There is no cluster here: the schemas are Kubernetes' own, the pods' command is run as a
//! kubelet would, and `kubectl` is played by a script.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use testing::{Place, stderr, stdout};

fn deploy(name: &str) -> PathBuf {
    testing::file("deploy/kubernetes").join(name)
}

/// Where the validator and a reader of YAML are.
fn python() -> PathBuf {
    testing::python("kubernetes-validate==1.37.0").unwrap().join("bin")
}

/// The manifest as kubectl would send it.
fn manifest() -> Value {
    let read = "import sys, json, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)";
    let output = Command::new(python().join("python"))
        .args(["-c", read])
        .arg(deploy("job.yaml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
#[ignore = "needs Python packages"]
fn the_manifest_is_what_kubernetes_takes() {
    let place = Place::new();
    let valid = |text: &str| {
        let path = place.root.path().join("job.yaml");
        std::fs::write(&path, text).unwrap();
        let output = Command::new(python().join("kubernetes-validate"))
            .arg("--strict")
            .arg(&path)
            .output()
            .unwrap();
        (output.status.success(), stdout(&output) + &stderr(&output))
    };
    let text = std::fs::read_to_string(deploy("job.yaml")).unwrap();
    let (good, said) = valid(&text);
    assert!(good, "{said}");
    // What is wrong is seen: a field that is none, a value of another type, a field that lacks.
    for (from, to) in [
        ("backoffLimitPerIndex:", "backOffLimitPerIndex:"),
        ("completions: &nodes 3", "completions: &nodes three"),
        ("- topologyKey: kubernetes.io/hostname", "- weight: 1"),
    ] {
        let wrong = text.replace(from, to);
        assert_ne!(wrong, text, "{from}");
        let (good, said) = valid(&wrong);
        assert!(!good, "{to}: {said}");
    }
}

/// What no schema says.
#[test]
#[ignore = "needs Python packages"]
fn a_pod_has_its_node_to_itself() {
    let job = manifest();
    let spec = &job["spec"];
    assert_eq!(spec["completions"], spec["parallelism"], "all pods are there at once");
    let pod = &spec["template"]["spec"];
    let apart =
        &pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
    assert_eq!(apart["topologyKey"], "kubernetes.io/hostname");
    assert_eq!(apart["labelSelector"]["matchLabels"], spec["template"]["metadata"]["labels"]);
    let container = &pod["containers"][0];
    assert_eq!(
        container["resources"]["requests"], container["resources"]["limits"],
        "the pod is Guaranteed"
    );
    let rule = &spec["podFailurePolicy"]["rules"][1]["onExitCodes"];
    assert_eq!(rule["containerName"], container["name"]);
}

/// The restricted profile of the pod security standards, and an image that stays the same.
#[test]
#[ignore = "needs Python packages"]
fn a_pod_may_do_nothing_but_measure() {
    let pod = &manifest()["spec"]["template"]["spec"];
    let own = &pod["securityContext"];
    assert_eq!(
        (&own["runAsNonRoot"], &own["seccompProfile"]["type"]),
        (&Value::from(true), &Value::from("RuntimeDefault"))
    );
    assert!(own["runAsUser"].as_u64().unwrap() > 0);
    assert_eq!(pod["automountServiceAccountToken"], false);
    for container in pod["containers"].as_array().unwrap() {
        let own = &container["securityContext"];
        assert_eq!(own["allowPrivilegeEscalation"], false);
        assert_eq!(own["capabilities"], serde_json::json!({"drop": ["ALL"]}));
        let image = container["image"].as_str().unwrap();
        assert_eq!(image.split_once(':').unwrap().1, env!("CARGO_PKG_VERSION"), "{image}");
    }
    let readme = std::fs::read_to_string(deploy("README.md")).unwrap();
    assert!(readme.contains(&format!("unixmark:{} .", env!("CARGO_PKG_VERSION"))));
    let image = std::fs::read_to_string(deploy("Containerfile")).unwrap();
    assert!(image.lines().any(|line| line == "USER 65534:65534"), "{image}");
}

/// What a pod logs: the manifest's command with the environment a kubelet gives it, measuring a
/// fake program.
fn logged(place: &Place, job: &Value, fields: &[(&str, &str)]) -> String {
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    let fields: BTreeMap<&str, &str> = fields.iter().copied().collect();
    let messages = place.root.path().join("termination-log");
    let command =
        container["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    let command: Vec<String> = command
        .map(|word| word.replace("/dev/termination-log", messages.to_str().unwrap()))
        .collect();
    let tool = testing::built_program("unixmark");
    let path = format!("{}:{}", tool.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut pod = Command::new(&command[0]);
    pod.args(&command[1..])
        .args(["--procedure", "quick", "-c", "1", "-i", "2", "--dir"])
        .arg(place.scratch());
    pod.arg("--program").arg(testing::fake("honest")).env("PATH", path);
    for variable in container["env"].as_array().unwrap() {
        let from = &variable["valueFrom"];
        let value = match (
            from["fieldRef"]["fieldPath"].as_str(),
            from["resourceFieldRef"]["resource"].as_str(),
        ) {
            (Some(field), _) => fields[field],
            (_, Some(resource)) => container["resources"]["limits"]
                [resource.trim_start_matches("limits.")]
            .as_str()
            .unwrap(),
            _ => variable["value"].as_str().unwrap(),
        };
        pod.env(variable["name"].as_str().unwrap(), value);
    }
    let output = pod.env("UNIXMARK_RESULTS", place.results()).output().unwrap();
    assert!(output.status.success(), "{}", std::fs::read_to_string(messages).unwrap());
    assert!(stderr(&output).is_empty(), "the log would have it: {}", stderr(&output));
    stdout(&output)
}

/// A directory with a kubectl that knows the pods and logs of its folder, and nothing that the
/// script should not ask.
fn kubectl(place: &Place) -> PathBuf {
    let folder = place.root.path().join("cluster");
    std::fs::create_dir(&folder).unwrap();
    let script = r#"#!/bin/sh
cd "$(dirname "$0")"
case "$*" in
"get nodes -l !node-role.kubernetes.io/control-plane -o jsonpath="*) printf w1,w2,w3, ;;
"get pods -l job-name=night -o jsonpath="*) cat pods ;;
"get pods -l job-name="*) ;;
"get pod night-2-ddddd -o jsonpath="*) printf "0/3 nodes are available:\n1 node(s) didn't match pod anti-affinity rules. " ;;
"get pod night-1-"*) ;;
"logs night-"*) cat "$2" 2>/dev/null || { echo "Error from server (NotFound): $2" >&2; exit 1; } ;;
*) echo "unknown: $*" >&2; exit 1 ;;
esac
"#;
    std::fs::write(folder.join("kubectl"), script).unwrap();
    std::fs::set_permissions(folder.join("kubectl"), std::fs::Permissions::from_mode(0o755))
        .unwrap();
    folder
}

fn collect(place: &Place, job: &str) -> Output {
    let tool = testing::built_program("unixmark");
    let folders = [place.root.path().join("cluster"), tool.parent().unwrap().to_path_buf()];
    let path = format!(
        "{}:{}:{}",
        folders[0].display(),
        folders[1].display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = Command::new(deploy("collect.sh"));
    command
        .arg(job)
        .arg(place.root.path().join("fleet"))
        .env("PATH", path)
        .env("TMPDIR", place.scratch());
    command.output().unwrap()
}

#[test]
#[ignore = "needs Python packages"]
fn what_pods_logged_makes_a_fleet_run() {
    let place = Place::alone();
    let job = manifest();
    let name = job["metadata"]["name"].as_str().unwrap();
    let pod = |node: &str, failures: &str| {
        logged(
            &place,
            &job,
            &[
                ("spec.nodeName", node),
                ("metadata.labels['batch.kubernetes.io/job-name']", name),
                ("metadata.annotations['batch.kubernetes.io/job-index-failure-count']", failures),
            ],
        )
    };
    let cluster = kubectl(&place);
    let has = |file: &str, text: &str| std::fs::write(cluster.join(file), text).unwrap();
    // One is done; one was killed, and its second pod is at work; one was taken by no node.
    has("night-0-aaaaa", &pod("w1", "0"));
    let first = pod("w2", "0");
    has("night-1-bbbbb", &first[..first.len() / 2]);
    let second = pod("w2", "1");
    has("night-1-ccccc", &second[..second.len() - 9]);
    has(
        "pods",
        "night-0-aaaaa Succeeded\nnight-1-bbbbb Failed\nnight-1-ccccc Running\nnight-2-ddddd Pending\n",
    );
    let output = collect(&place, name);
    let (text, said) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(1), "{text}{said}");
    assert!(text.starts_with("fleet run night: 1 whole, 1 partial, 1 missing\n"), "{text}{said}");
    assert!(
        said.contains("night-2-ddddd: Pending: 0/3 nodes are available: 1 node(s) didn't match"),
        "{said}"
    );
    // Later: the second pod has ended, and the first one's log cannot be had any more.
    has("night-1-ccccc", &second);
    std::fs::remove_file(cluster.join("night-1-bbbbb")).unwrap();
    has(
        "pods",
        "night-0-aaaaa Succeeded\nnight-1-bbbbb Failed\nnight-1-ccccc Succeeded\nnight-2-ddddd Pending\n",
    );
    let output = collect(&place, name);
    let (text, said) = (stdout(&output), stderr(&output));
    assert!(text.starts_with("fleet run night: 2 whole, 1 missing\n"), "{text}{said}");
    assert!(text.contains("w2  whole    2 attempts were delivered; attempt 1 counts\n"), "{text}");
    assert!(said.contains("night-1-bbbbb: its log did not come whole"), "{said}");
    // A log whose beginning the kubelet has thrown away is no journal, and no reason to doubt what
    // is there.
    has("night-0-aaaaa", &first[first.len() / 2..]);
    let output = collect(&place, name);
    assert!(
        stdout(&output).starts_with("fleet run night: 2 whole, 1 missing\n"),
        "{}",
        stdout(&output)
    );
    assert!(stderr(&output).contains("not taken in"), "{}", stderr(&output));
    let output = collect(&place, "day");
    assert!(
        output.status.code() == Some(2) && stderr(&output).contains("'day' has no pods"),
        "{}",
        stderr(&output)
    );
    place.assert_clean();
}
