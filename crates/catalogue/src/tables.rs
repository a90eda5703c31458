// The files of the catalogue that hold tests, in the order of lists and reports: read here and by build.rs.

/// Name and text of each.
pub const TABLES: &[(&str, &str)] = &[
    ("tests.toml", include_str!("../../../catalogue/tests.toml")),
    ("cpu.toml", include_str!("../../../catalogue/cpu.toml")),
    ("memory.toml", include_str!("../../../catalogue/memory.toml")),
    ("thread.toml", include_str!("../../../catalogue/thread.toml")),
    ("kernel.toml", include_str!("../../../catalogue/kernel.toml")),
    ("calls.toml", include_str!("../../../catalogue/calls.toml")),
    ("lebench.toml", include_str!("../../../catalogue/lebench.toml")),
    ("lmbench.toml", include_str!("../../../catalogue/lmbench.toml")),
    ("file.toml", include_str!("../../../catalogue/file.toml")),
    ("session.toml", include_str!("../../../catalogue/session.toml")),
    ("command.toml", include_str!("../../../catalogue/command.toml")),
    ("2d.toml", include_str!("../../../catalogue/2d.toml")),
    ("3d.toml", include_str!("../../../catalogue/3d.toml")),
    ("interactive.toml", include_str!("../../../catalogue/interactive.toml")),
    ("loads.toml", include_str!("../../../catalogue/loads.toml")),
    ("burn.toml", include_str!("../../../catalogue/burn.toml")),
];
