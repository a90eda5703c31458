//! Frames through a Wayland compositor: pictures in shared memory, committed at the compositor's pace, and when each
//! was shown.
//!
//! A frame is planned when it is committed and done when it was on the screen, as the compositor tells
//! (wp_presentation); where it does not tell, when it asks for the next one. What it threw away without showing is a
//! dropped frame.

mod client;
mod window;

use crate::facts::Fact;
use crate::kit::{Frame, Kit, SECOND, Stop};
use crate::server;
use client::{Client, HIDDEN, Heard};
use window::Window;

/// Refreshes from the commit until a frame that is in time is on the screen: the one that is being made, and the next.
const IN_TIME: u64 = 2;

/// Frames this many refreshes apart on average are not at the screen's pace.
const SLOW: f64 = 1.2;

pub fn run(kit: &mut Kit) -> Result<(), Stop> {
    let (width, height) = kit.size((640, 480))?;
    let client = Client::connect()?;
    kit.server(client.peer());
    let mut window = Window::open(client, (width.cast_signed(), height.cast_signed()))?;
    // The first one waits for the window to appear.
    window.frame()?;
    window.settle()?;
    window.heard().shown.clear();
    window.heard().discarded = 0;
    kit.measure(|| window.frame())?;
    window.settle()?;
    if !window.tells() {
        kit.note(
            "the compositor has no wp_presentation: a frame ends when it asks for the next one, not when it is shown",
        );
    }
    report(kit, window.heard())
}

fn report(kit: &mut Kit, heard: &mut Heard) -> Result<(), Stop> {
    heard.shown.sort_by_key(|frame| frame.planned);
    let interval = interval(&heard.shown).ok_or_else(|| {
        Stop::Error(format!(
            "of {} frames the compositor showed {}: {HIDDEN}",
            heard.discarded + heard.shown.len() as u64,
            heard.shown.len()
        ))
    })?;
    kit.value("interval", interval as f64 / 1e6, "ms");
    let refresh = heard.refresh();
    if let Some(refresh) = refresh {
        kit.value("refresh", hertz(refresh), "Hz");
        if interval as f64 > SLOW * refresh as f64 {
            kit.note(&format!(
                "frames came slower than the {:.1} Hz that the compositor reports: its screen is not real, or it is too slow",
                hertz(refresh)
            ));
        }
    }
    if heard.guessed > 0 {
        kit.note("the compositor's clock is none to compare with: a frame ends when word of it comes");
    }
    kit.plan(IN_TIME * refresh.unwrap_or(interval), heard.discarded);
    for frame in &heard.shown {
        kit.frame(*frame);
    }
    // Wayland gives no pixels back: what can be right or wrong is that pictures were taken, and given back.
    kit.check("presented", f64::from(heard.released > 0));
    Ok(())
}

fn hertz(ns: u64) -> f64 {
    SECOND as f64 / ns as f64
}

/// The mean time in ns from one frame on the screen to the next; nothing where there are no two.
fn interval(shown: &[Frame]) -> Option<u64> {
    let (first, last) = (shown.first()?, shown.last()?);
    let between = shown.len() as u64 - 1;
    last.done.saturating_sub(first.done).checked_div(between).filter(|ns| *ns > 0)
}

/// What there is to draw on, as rows of the journal's facts; none where there is no Wayland display.
pub fn facts() -> Vec<Fact> {
    let Ok(mut client) = Client::connect() else { return Vec::new() };
    let mut facts = Vec::new();
    if let Some(name) = client.peer().and_then(server::name) {
        facts.push(("graphics.server", "Display server", format!("Wayland, {name}")));
        facts.push(("graphics.compositor", "Compositor", name));
    } else {
        facts.push(("graphics.server", "Display server", "Wayland".to_owned()));
    }
    if let Ok(Some(mode)) = client.mode() {
        facts.push(("graphics.screen", "Screen", format!("{} x {}", mode.width, mode.height)));
        if mode.refresh > 0 {
            facts.push(("graphics.refresh", "Refresh rate", format!("{:.1} Hz", f64::from(mode.refresh) / 1e3)));
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_takes_two_frames() {
        let frame = |done| Frame { planned: 0, woke: done, done };
        assert_eq!(interval(&[]), None);
        assert_eq!(interval(&[frame(5)]), None);
        assert_eq!(interval(&[frame(5), frame(5)]), None);
        assert_eq!(interval(&[frame(10), frame(15), frame(30)]), Some(10));
    }
}
