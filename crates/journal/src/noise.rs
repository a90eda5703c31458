//! Disturbances of a window of time.

use serde::{Deserialize, Serialize};

/// Disturbances of a window in seconds, each absent where the kernel does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Noise {
    /// CPU seconds the hypervisor gave to others while this machine wanted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_s: Option<f64>,
    /// CPU seconds spent working, by all CPUs and whoever asked: the test itself is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_s: Option<f64>,
    /// Tasks running or waiting for a CPU at the end of the window, this one included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub procs_running: Option<u64>,
    /// Seconds in which at least one task waited for a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub psi_cpu_some_s: Option<f64>,
    /// Seconds in which at least one task waited for input or output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub psi_io_some_s: Option<f64>,
    /// Seconds in which at least one task waited for memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub psi_memory_some_s: Option<f64>,
    /// Mean frequency of a few CPUs at the end of the window, in MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_mhz: Option<f64>,
    /// One-minute load average at the end of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load1: Option<f64>,
    /// The hottest zone or CPU sensor at the end of the window, in °C.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
}
