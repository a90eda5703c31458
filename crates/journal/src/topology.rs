//! Where the CPUs of a machine lie.

/// The parts that copies can be spread over.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Topology {
    /// The CPUs that this process may run on, by number.
    pub cpus: Vec<Cpu>,
    /// CPUs' worth of time that a control group allows; `None` without a limit.
    pub quota: Option<f64>,
}

/// One CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// Its number.
    pub number: u32,
    /// Its core, which its SMT siblings share: the number of the first of them.
    pub core: u32,
    /// Its socket.
    pub socket: u32,
    /// Its memory node.
    pub node: u32,
    /// Its kind of core: 0 is the fastest here.
    pub kind: u32,
}
