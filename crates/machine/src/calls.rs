//! Numbers and names of system calls.

/// No architecture has a system call of a larger number.
const MAX_CALL_NUMBER: u32 = 2048;

/// The number of a system call of this architecture.
pub fn call_number(name: &str) -> Option<u32> {
    (0..MAX_CALL_NUMBER).find(|number| call_name(*number) == Some(name))
}

/// The name of a system call of this architecture.
pub fn call_name(number: u32) -> Option<&'static str> {
    // As wide as a register, which may be 32 bits.
    syscall_numbers::native::sys_call_name(u16::try_from(number).ok()?.into())
}
