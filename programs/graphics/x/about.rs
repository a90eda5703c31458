//! What there is to know of the X server, for the journal.

use x11rb::connection::Connection;
use x11rb::protocol::randr::{self, ConnectionExt as _, ModeFlag, ModeInfo};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt};

use super::{X, connect};
use crate::facts::Fact;
use crate::kit::Stop;
use crate::server::process_name;

/// Facts of the display; none where there is no display.
pub fn facts() -> Vec<Fact> {
    let Ok(x) = connect() else {
        return Vec::new();
    };
    let screen = x.screen();
    let size = format!(
        "{} x {}, depth {}",
        screen.width_in_pixels, screen.height_in_pixels, screen.root_depth
    );
    let refresh_rate = refresh_rate(&x).ok().flatten();

    let mut facts = Vec::new();
    let mut add = |name, label, value| facts.push(Fact { name, label, value });
    add("graphics.server", "Display server", server_name(&x));
    add("graphics.screen", "Screen", size);
    if let Some(hertz) = refresh_rate {
        add("graphics.refresh", "Refresh rate", format!("{hertz:.1} Hz"));
    }
    if let Ok(compositor) = compositor(&x) {
        add("graphics.compositor", "Compositor", compositor);
    }
    facts
}

/// "Xvfb, The X.Org Foundation 21.1.7". Where the socket was opened by another than the server, as
/// compositors do for Xwayland, the name is the other's.
fn server_name(x: &X) -> String {
    let setup = x.conn.setup();
    let vendor = format!(
        "{} {}",
        String::from_utf8_lossy(&setup.vendor),
        release(&setup.vendor, setup.release_number)
    );
    match x.server().and_then(process_name) {
        Some(name) => format!("{name}, {vendor}"),
        None => vendor,
    }
}

/// A release as people write it. X.Org's are MMmmpppsss, and since 21 the first number, still 1, is
/// left out.
fn release(vendor: &[u8], number: u32) -> String {
    if vendor != b"The X.Org Foundation" {
        return number.to_string();
    }
    let (major, minor) = (number / 10_000_000, number / 100_000 % 100);
    let (patch, snap) = (number / 1000 % 100, number % 1000);
    match (major, minor, snap) {
        (1, 21.., _) => format!("{minor}.{patch}.{snap}"),
        (.., 0) => format!("{major}.{minor}.{patch}"),
        _ => format!("{major}.{minor}.{patch}.{snap}"),
    }
}

/// The refresh rate of the first CRTC that shows anything, in Hz; nothing where there is none, as
/// of a server in memory.
fn refresh_rate(x: &X) -> Result<Option<f64>, Stop> {
    if !x.has_extension(randr::X11_EXTENSION_NAME)? {
        return Ok(None);
    }
    let version = x.conn.randr_query_version(1, 3)?.reply()?;
    if (version.major_version, version.minor_version) < (1, 3) {
        return Ok(None);
    }
    let resources = x.conn.randr_get_screen_resources_current(x.screen().root)?.reply()?;
    for crtc in resources.crtcs {
        let mode = x.conn.randr_get_crtc_info(crtc, resources.config_timestamp)?.reply()?.mode;
        if let Some(mode) = resources.modes.iter().find(|known| known.id == mode) {
            return Ok(mode_rate(mode));
        }
    }
    Ok(None)
}

/// Frames per second: the dot clock over the dots of a frame. Interlaced frames come in halves, and
/// double scan draws every line twice.
fn mode_rate(mode: &ModeInfo) -> Option<f64> {
    let mut dots = f64::from(mode.htotal) * f64::from(mode.vtotal);
    if mode.mode_flags.contains(ModeFlag::INTERLACE) {
        dots /= 2.0;
    }
    if mode.mode_flags.contains(ModeFlag::DOUBLE_SCAN) {
        dots *= 2.0;
    }
    (mode.dot_clock > 0 && dots > 0.0).then(|| f64::from(mode.dot_clock) / dots)
}

/// "Mutter, compositing": the window manager's name, and whether anyone composites.
fn compositor(x: &X) -> Result<String, Stop> {
    let selection = format!("_NET_WM_CM_S{}", x.screen_number());
    let owner = match atom(x, &selection)? {
        0 => 0,
        atom => x.conn.get_selection_owner(atom)?.reply()?.owner,
    };
    let manager = window_manager(x)?;
    Ok(match (manager.as_str(), owner) {
        ("", 0) => "none".to_owned(),
        ("", _) => "compositing, without a window manager".to_owned(),
        (name, 0) => format!("{name}, not compositing"),
        (name, _) => format!("{name}, compositing"),
    })
}

/// The window manager's name, as EWMH has it; empty where there is none.
fn window_manager(x: &X) -> Result<String, Stop> {
    let (check, name) = (atom(x, "_NET_SUPPORTING_WM_CHECK")?, atom(x, "_NET_WM_NAME")?);
    if check == 0 || name == 0 {
        return Ok(String::new());
    }
    let root = x.screen().root;
    let property = x.conn.get_property(false, root, check, AtomEnum::WINDOW, 0, 1)?.reply()?;
    let Some(window) = property.value32().and_then(|mut windows| windows.next()) else {
        return Ok(String::new());
    };
    // A window manager that was killed leaves the property, and no window.
    let property = x.conn.get_property(false, window, name, AtomEnum::ANY, 0, 64)?.reply();
    Ok(property.map(|name| String::from_utf8_lossy(&name.value).into_owned()).unwrap_or_default())
}

/// The number of a name; 0 where nobody ever used it here.
fn atom(x: &X, name: &str) -> Result<u32, Stop> {
    Ok(x.conn.intern_atom(true, name.as_bytes())?.reply()?.atom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_as_people_write_them() {
        let xorg = b"The X.Org Foundation";
        assert_eq!(release(xorg, 12_101_007), "21.1.7");
        assert_eq!(release(xorg, 12_302_005), "23.2.5");
        assert_eq!(release(xorg, 12_014_000), "1.20.14");
        assert_eq!(release(xorg, 11_999_901), "1.19.99.901");
        assert_eq!(release(b"Colin Harrison", 10_503_000), "10503000");
    }

    #[test]
    fn rates_of_modes() {
        let mode = |dot_clock, mode_flags| ModeInfo {
            dot_clock,
            htotal: 2200,
            vtotal: 1125,
            mode_flags,
            ..ModeInfo::default()
        };
        assert_eq!(mode_rate(&mode(148_500_000, ModeFlag::default())), Some(60.0));
        assert_eq!(mode_rate(&mode(74_250_000, ModeFlag::INTERLACE)), Some(60.0));
        assert_eq!(mode_rate(&mode(0, ModeFlag::default())), None);
        assert_eq!(mode_rate(&ModeInfo { dot_clock: 1, ..ModeInfo::default() }), None);
    }
}
