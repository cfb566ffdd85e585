//! One panel: a title, two labelled axes, a thin grid.

use plotters::prelude::DrawingBackend;
use plotters::style::FontTransform;
use plotters::style::text_anchor::{HPos, VPos};

use crate::error::Result;
use crate::palette::{FRAME, GRID};
use crate::panel::Panel;
use crate::picture::{Area, Frame, Place, Scale};
use crate::stroke::Stroke;
use crate::text::{LARGE, SMALL, fitted, text, width};
use crate::ticks::ticks;

/// How far along an axis a number lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Linear,
    /// Linear, with whole numbers only.
    Whole,
    /// By the square root: small numbers get more room, and 0 has its place.
    Root,
    /// By the logarithm.
    Log,
}

/// One axis: what it shows, and from where to where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis<'a> {
    pub label: &'a str,
    pub from: f64,
    pub to: f64,
    pub kind: Kind,
}

impl<'a> Axis<'a> {
    /// A linear axis. Equal ends are moved apart, ends that are no numbers become 0 and 1: there is always a picture.
    pub fn new(label: &'a str, from: f64, to: f64) -> Self {
        let (from, to) = if from.is_finite() && to.is_finite() { (from, to) } else { (0.0, 1.0) };
        let apart = 1e-9 * from.abs().max(to.abs());
        let (from, to) = if to - from > apart {
            (from, to)
        } else {
            let half = if from == 0.0 { 0.5 } else { 0.1 * from.abs() };
            (from - half, from + half)
        };
        Axis { label, from, to, kind: Kind::Linear }
    }

    /// From 0 to 1.
    pub fn unit(label: &'a str) -> Self {
        Axis::new(label, 0.0, 1.0)
    }

    /// With whole numbers only.
    pub fn whole(self) -> Self {
        Axis { kind: Kind::Whole, ..self }
    }

    /// By the square root; begins with 0 or above.
    pub fn root(self) -> Self {
        Axis { kind: Kind::Root, ..self }
    }

    /// By the logarithm; begins above 0.
    pub fn log(self) -> Self {
        Axis { kind: Kind::Log, ..self }
    }

    /// How far along the axis a number lies: 0 at its begin, 1 at its end.
    pub fn share(&self, value: f64) -> f64 {
        let bent = |value: f64| match self.kind {
            Kind::Linear | Kind::Whole => value,
            Kind::Root => value.max(0.0).sqrt(),
            Kind::Log => value.max(f64::MIN_POSITIVE).ln(),
        };
        (bent(value) - bent(self.from)) / (bent(self.to) - bent(self.from))
    }
}

/// What stands around the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axes<'a> {
    pub title: &'a str,
    pub x: Axis<'a>,
    pub y: Axis<'a>,
    /// Whether numbers will be written between the title and the data, see [`Panel::flag`].
    pub flags: bool,
}

/// Room in pixels: above for the title, below and to the left for numbers and label, to the right for half of the last number.
const ABOVE: f64 = 36.0;
const BELOW: f64 = 42.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 16.0;
/// Room above for flags.
const FLAGS: f64 = 8.0;
/// Length of a tick, and from there to its number.
const TICK: f64 = 3.5;
const TO_NUMBER: f64 = 4.0;
/// Room for a number beside the x axis, and beside the y axis.
const NUMBER: (f64, f64) = (45.0, 30.0);

impl Axes<'_> {
    fn above(&self) -> f64 {
        if self.flags { ABOVE + FLAGS } else { ABOVE }
    }

    /// Where the data will lie, if the panel takes this place.
    pub fn frame(&self, place: Place) -> Frame {
        Frame {
            left: place.left + LEFT,
            top: place.top + self.above(),
            width: place.width - LEFT - RIGHT,
            height: place.height - self.above() - BELOW,
            x: (self.x.from, self.x.to),
            y: (self.y.from, self.y.to),
        }
    }

    /// Draws them and returns the panel between them.
    pub fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, place: Place, scale: Scale) -> Result<Panel<'_, DB>> {
        let frame = self.frame(place);
        let panel = Panel::new(area.clone(), frame, (self.x, self.y), scale);
        self.draw_title(area, place, scale)?;

        let numbers = text(scale, SMALL, HPos::Center, VPos::Center);
        let (tick, to_number) = (scale.units(TICK), scale.units(TICK + TO_NUMBER));
        let (left, bottom) = (scale.units(frame.left), scale.units(frame.top + frame.height));
        let (right, top) = (scale.units(frame.left + frame.width), scale.units(frame.top));
        let (grid, axis) = (Stroke::solid(GRID, 0.75), Stroke::solid(FRAME, 1.0));
        // Numbers from below to above and from left to right; the whole grid before the axes, which lie on it.
        let columns = ticks(&self.x, frame.width, NUMBER.0);
        let rows = ticks(&self.y, frame.height, NUMBER.1.max(frame.height / 7.5));
        let column = |value: f64| panel.place((value, self.y.from)).0.round() as i32;
        let row = |value: f64| panel.place((self.x.from, value)).1.round() as i32;
        for (value, _) in &columns {
            grid.draw_on(area, vec![(column(*value), top), (column(*value), bottom)], scale)?;
        }
        for (value, _) in &rows {
            grid.draw_on(area, vec![(left, row(*value)), (right, row(*value))], scale)?;
        }
        for (value, words) in columns {
            let x = column(value);
            axis.draw_on(area, vec![(x, bottom), (x, bottom + tick)], scale)?;
            area.draw_text(&words, &numbers, (x, bottom + to_number + scale.units(0.5 * SMALL)))?;
        }
        let numbers = text(scale, SMALL, HPos::Right, VPos::Center);
        for (value, words) in rows {
            let y = row(value);
            axis.draw_on(area, vec![(left - tick, y), (left, y)], scale)?;
            area.draw_text(&words, &numbers, (left - to_number, y))?;
        }
        axis.draw_on(area, vec![(left, top), (left, bottom), (right, bottom)], scale)?;
        self.draw_labels(area, place, scale)?;
        Ok(panel)
    }

    /// The title, centred over the data, and moved where it would leave the panel.
    fn draw_title<DB: DrawingBackend>(&self, area: &Area<DB>, place: Place, scale: Scale) -> Result<()> {
        let style = text(scale, LARGE, HPos::Center, VPos::Center);
        let words = fitted(&style, self.title, scale.units(place.width - RIGHT));
        let half = width(&style, &words) / 2;
        let middle = scale.units(place.left + 0.5 * (place.width + LEFT - RIGHT));
        let x = middle.min(scale.units(place.left + place.width - 4.0) - half);
        let y = scale.units(place.top + if self.flags { 14.0 } else { ABOVE - 14.0 });
        area.draw_text(&words, &style, (x, y))?;
        Ok(())
    }

    fn draw_labels<DB: DrawingBackend>(&self, area: &Area<DB>, place: Place, scale: Scale) -> Result<()> {
        let frame = self.frame(place);
        let style = text(scale, SMALL, HPos::Center, VPos::Center);
        let middle = scale.units(frame.left + 0.5 * frame.width);
        area.draw_text(self.x.label, &style, (middle, scale.units(place.top + place.height - 9.0)))?;
        let upright = style.transform(FontTransform::Rotate270);
        let halfway = scale.units(frame.top + 0.5 * frame.height);
        area.draw_text(self.y.label, &upright, (scale.units(place.left + 9.0), halfway))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_always_has_a_length() {
        let ends = |from: f64, to: f64| (Axis::new("", from, to).from, Axis::new("", from, to).to);
        assert_eq!(ends(0.0, 0.0), (-0.5, 0.5));
        assert_eq!(ends(2.0, 2.0), (1.8, 2.2));
        assert_eq!(ends(-1.0, 3.0), (-1.0, 3.0));
        assert_eq!(ends(f64::NAN, 3.0), (0.0, 1.0));
        assert_eq!(ends(0.0, f64::INFINITY), (0.0, 1.0));
    }

    #[test]
    fn shares_of_bent_axes() {
        assert_eq!(Axis::new("", -1.0, 3.0).share(0.0), 0.25);
        assert_eq!(Axis::new("", 0.0, 16.0).root().share(4.0), 0.5);
        assert!((Axis::new("", 1.0, 1000.0).log().share(10.0) - 1.0 / 3.0).abs() < 1e-15);
    }
}
