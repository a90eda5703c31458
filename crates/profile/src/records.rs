//! Records of perf_event_open(2), as `programs/command/sampler.c` has the kernel make them.
//!
//! A record is a header (type, flags, size) and fields in the machine's own byte order. All but
//! samples end with the ids of their thread and their time (`sample_id_all`).

/// Types of records, from linux/perf_event.h.
const LOST: u32 = 2;
const COMM: u32 = 3;
const THROTTLE: u32 = 5;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const LOST_SAMPLES: u32 = 13;

const HEADER_BYTES: usize = 8;

/// The flags' bits that say in which mode the processor was, and the value of the kernel's.
const MODE_MASK: u16 = 7;
const KERNEL_MODE: u16 = 1;

/// The flag of a new name that came with another program.
const COMM_EXEC: u16 = 1 << 13;

/// Addresses from here on mark where a chain goes on: in the kernel, or in the program.
const FIRST_MARKER: u64 = -4095_i64 as u64;
const KERNEL_MARKER: u64 = -128_i64 as u64;

/// A record that matters here.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub time: u64,
    pub event: Event,
}

/// The content of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A process became another program.
    Exec { process: u32 },
    /// A process was started by another.
    Fork { process: u32, parent: u32 },
    /// A file, or memory without one, can be executed at addresses of a process.
    Map { process: u32, mapping: Mapped },
    /// A process had used `ns` more of processor time.
    Sample { process: u32, ns: u64, chain: Vec<Frame> },
    /// The kernel had no room for so many records.
    Lost(u64),
    /// The kernel left samples out, as they took too much of its time.
    Throttled,
}

/// An address of a chain, the innermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    pub address: u64,
    pub is_kernel: bool,
}

/// A mapping that can be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    pub start: u64,
    pub end: u64,
    /// The offset in the file.
    pub offset: u64,
    pub inode: u64,
    /// The file's path, or the kernel's name of what is no file: `//anon`, `[vdso]`.
    pub path: String,
}

/// Reads all records of an execution, in the order of their times. What cannot be read is passed
/// over: the kernel writes no such record, so something else has written it.
pub fn read(bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut rest = bytes;
    while let Some((header, _)) = rest.split_at_checked(HEADER_BYTES) {
        let mut fields = Fields(header);
        let (Some(kind), Some(flags), Some(size)) = (fields.u32(), fields.u16(), fields.u16())
        else {
            break;
        };
        let size = usize::from(size);
        if size < HEADER_BYTES || size > rest.len() {
            break;
        }

        records.extend(read_record(kind, flags, &rest[HEADER_BYTES..size]));
        rest = &rest[size..];
    }

    // Each processor's records follow each other in the file.
    records.sort_by_key(|record| record.time);
    records
}

fn read_record(kind: u32, flags: u16, body: &[u8]) -> Option<Record> {
    if kind == SAMPLE {
        return read_sample(flags, body);
    }

    let mut fields = Fields(body);
    let time = u64::from_ne_bytes(body.last_chunk().copied()?);
    let event = match kind {
        COMM if flags & COMM_EXEC != 0 => Event::Exec { process: fields.u32()? },
        FORK => Event::Fork { process: fields.u32()?, parent: fields.u32()? },
        MMAP2 => read_mapping(fields)?,
        LOST => {
            fields.u64()?; // the event's number
            Event::Lost(fields.u64()?)
        }
        LOST_SAMPLES => Event::Lost(fields.u64()?),
        THROTTLE => Event::Throttled,
        _ => return None,
    };
    Some(Record { time, event })
}

fn read_mapping(mut fields: Fields<'_>) -> Option<Event> {
    let process = fields.u32()?;
    fields.u32()?; // the thread
    let (start, length, offset) = (fields.u64()?, fields.u64()?, fields.u64()?);
    fields.u64()?; // the device, whose number is not that of stat(2) on every file system
    let inode = fields.u64()?;
    fields.u64()?; // the inode's generation
    fields.u64()?; // protection and flags
    let end = fields.0.iter().position(|byte| *byte == 0)?;
    let path = String::from_utf8_lossy(&fields.0[..end]).into_owned();

    let mapping = Mapped { start, end: start.checked_add(length)?, offset, inode, path };
    Some(Event::Map { process, mapping })
}

fn read_sample(flags: u16, body: &[u8]) -> Option<Record> {
    let mut fields = Fields(body);
    let address = fields.u64()?;
    let process = fields.u32()?;
    fields.u32()?; // the thread
    let (time, ns, length) = (fields.u64()?, fields.u64()?, fields.u64()?);

    let is_in_kernel = flags & MODE_MASK == KERNEL_MODE;
    let mut chain = Vec::new();
    let mut is_kernel = is_in_kernel;
    for _ in 0..length.min(body.len() as u64 / 8) {
        let address = fields.u64()?;
        if address >= FIRST_MARKER {
            is_kernel = address == KERNEL_MARKER;
        } else {
            chain.push(Frame { address, is_kernel });
        }
    }
    if chain.is_empty() {
        chain.push(Frame { address, is_kernel: is_in_kernel });
    }
    Some(Record { time, event: Event::Sample { process, ns, chain } })
}

/// The fields of a record that are not read yet.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_ne_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_ne_bytes)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A record of the kernel's, from its type, its flags and its fields.
    pub fn record(kind: u32, flags: u16, fields: &[u64]) -> Vec<u8> {
        let size = u16::try_from(HEADER_BYTES + 8 * fields.len()).unwrap();
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(flags.to_ne_bytes());
        bytes.extend(size.to_ne_bytes());
        fields.iter().for_each(|field| bytes.extend(field.to_ne_bytes()));
        bytes
    }

    /// A sample of process 7 that used 200 ns.
    pub fn sample(time: u64, chain: &[u64]) -> Vec<u8> {
        let fields = [&[chain[0], 7, time, 200, chain.len() as u64 + 1, -512_i64 as u64], chain];
        record(SAMPLE, 2, &fields.concat())
    }

    #[test]
    fn records_come_in_the_order_of_their_times() {
        let bytes = [sample(30, &[0x20]), record(FORK, 0, &[7, 0, 0, 0, 10])].concat();

        let times: Vec<u64> = read(&bytes).iter().map(|record| record.time).collect();

        assert_eq!(times, [10, 30]);
    }

    #[test]
    fn a_chain_loses_its_markers() {
        let [record] = &read(&sample(1, &[0x20, 0x40]))[..] else { panic!("not one record") };
        let Event::Sample { chain, .. } = &record.event else { panic!("{record:?}") };
        let addresses: Vec<u64> = chain.iter().map(|frame| frame.address).collect();
        assert_eq!(addresses, [0x20, 0x40]);
        assert!(chain.iter().all(|frame| !frame.is_kernel));
    }

    #[test]
    fn damaged_records_end_the_reading() {
        let whole = sample(1, &[0x20, 0x40]);
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length]), [], "{length} bytes");
        }
        // A size of 0 would never end.
        assert_eq!(read(&[0; 64]), []);
        // More frames than there are.
        let mut long = whole.clone();
        long[HEADER_BYTES + 32..HEADER_BYTES + 40].fill(0xff);
        assert!(read(&long).len() <= 1);
    }
}
