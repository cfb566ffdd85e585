//! One panel: a title, two labelled axes, a thin grid.

use std::borrow::Cow;

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
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis<'a> {
    pub label: Cow<'a, str>,
    pub from: f64,
    pub to: f64,
    pub kind: Kind,
}

impl<'a> Axis<'a> {
    /// A linear axis. Equal ends are moved apart, ends that are no numbers become 0 and 1: there is always a picture.
    pub fn new(label: impl Into<Cow<'a, str>>, from: f64, to: f64) -> Self {
        let (from, to) = if from.is_finite() && to.is_finite() { (from, to) } else { (0.0, 1.0) };
        let apart = 1e-9 * from.abs().max(to.abs());
        let (from, to) = if to - from > apart {
            (from, to)
        } else {
            let half = if from == 0.0 { 0.5 } else { 0.1 * from.abs() };
            (from - half, from + half)
        };
        Axis { label: label.into(), from, to, kind: Kind::Linear }
    }

    /// From 0 to 1.
    pub fn unit(label: impl Into<Cow<'a, str>>) -> Self {
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
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axes<'a> {
    title: &'a str,
    pub x: Axis<'a>,
    pub y: Axis<'a>,
    /// Room in pixels that words beside the data need above and to the right.
    more: (f64, f64),
}

/// Room in pixels: above for the title, below and to the left for numbers and label, to the right for half of the last number.
const ABOVE: f64 = 36.0;
const BELOW: f64 = 42.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 16.0;
/// Room above where there is no title, and below where there is no label.
const BARE: f64 = 8.0;
const UNLABELLED: f64 = 22.0;
/// Room above for words between title and data.
const FLAGS: f64 = 8.0;
/// Length of a tick, and from there to its number.
const TICK: f64 = 3.5;
const TO_NUMBER: f64 = 4.0;
/// What the label beside the y axis takes of the room to the left, with what separates it from the numbers.
const UPRIGHT_LABEL: f64 = 18.0;
/// Room for a number along the x axis.
const NUMBER: f64 = 45.0;

impl<'a> Axes<'a> {
    /// With a title.
    pub fn new(title: &'a str, x: Axis<'a>, y: Axis<'a>) -> Self {
        Axes { title, x, y, more: (0.0, 0.0) }
    }

    /// Of a panel that continues the one above it: without a title and a label of its own below.
    pub fn continued(from: f64, to: f64, y: Axis<'a>) -> Self {
        Axes { title: "", x: Axis::new("", from, to), y, more: (BARE - ABOVE, 0.0) }
    }

    /// With room for words between the title and the data, see [`Panel::flag`].
    pub fn with_flags(self) -> Self {
        Axes { more: (FLAGS, self.more.1), ..self }
    }

    /// With more room to the right of the data.
    pub fn with_right(self, pixels: f64) -> Self {
        Axes { more: (self.more.0, pixels), ..self }
    }

    fn above(&self) -> f64 {
        ABOVE + self.more.0
    }

    fn below(&self) -> f64 {
        if self.x.label.is_empty() { UNLABELLED } else { BELOW }
    }

    fn right(&self) -> f64 {
        RIGHT + self.more.1
    }

    /// Room to the left: more where the numbers are long. Always measured at one scale, so that SVG and PNG are alike.
    fn left(&self, height: f64) -> f64 {
        let (scale, mut widest) = (Scale(10), 0);
        for (_, words) in self.rows(height) {
            widest = widest.max(width(&text(scale, SMALL, HPos::Right, VPos::Center), &words));
        }
        LEFT.max((UPRIGHT_LABEL + f64::from(widest) / scale.factor() + TICK + TO_NUMBER).ceil())
    }

    /// The numbers beside a y axis of this height: seven at most, so that they stay apart from each other.
    fn rows(&self, height: f64) -> Vec<(f64, String)> {
        let room = match self.y.kind {
            Kind::Linear | Kind::Whole => (height / 7.5).max(30.0),
            Kind::Root | Kind::Log => 18.0,
        };
        ticks(&self.y, height, room)
    }

    /// Where the data will lie, if the panel takes this place.
    pub fn frame(&self, place: Place) -> Frame {
        let height = place.height - self.above() - self.below();
        let left = self.left(height);
        Frame {
            left: place.left + left,
            top: place.top + self.above(),
            width: place.width - left - self.right(),
            height,
            x: (self.x.from, self.x.to),
            y: (self.y.from, self.y.to),
        }
    }

    /// Draws them and returns the panel between them.
    pub fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, place: Place, scale: Scale) -> Result<Panel<'a, DB>> {
        let frame = self.frame(place);
        let panel = Panel::new(area.clone(), frame, (self.x.clone(), self.y.clone()), scale);
        self.draw_title(area, place, scale)?;

        let numbers = text(scale, SMALL, HPos::Center, VPos::Center);
        let (tick, to_number) = (scale.units(TICK), scale.units(TICK + TO_NUMBER));
        let (left, bottom) = (scale.units(frame.left), scale.units(frame.top + frame.height));
        let (right, top) = (scale.units(frame.left + frame.width), scale.units(frame.top));
        let (grid, axis) = (Stroke::solid(GRID, 0.75), Stroke::solid(FRAME, 1.0));
        // Numbers from below to above and from left to right; the whole grid before the axes, which lie on it.
        let columns = ticks(&self.x, frame.width, NUMBER);
        let rows = self.rows(frame.height);
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
        let frame = self.frame(place);
        let middle = scale.units(frame.left + 0.5 * frame.width);
        let x = middle.min(scale.units(place.left + place.width - 4.0) - half);
        let y = scale.units(place.top + if self.more.0 > 0.0 { 14.0 } else { ABOVE - 14.0 });
        area.draw_text(&words, &style, (x, y))?;
        Ok(())
    }

    fn draw_labels<DB: DrawingBackend>(&self, area: &Area<DB>, place: Place, scale: Scale) -> Result<()> {
        let frame = self.frame(place);
        let style = text(scale, SMALL, HPos::Center, VPos::Center);
        let middle = scale.units(frame.left + 0.5 * frame.width);
        area.draw_text(&self.x.label, &style, (middle, scale.units(place.top + place.height - 9.0)))?;
        let upright = style.transform(FontTransform::Rotate270);
        let halfway = scale.units(frame.top + 0.5 * frame.height);
        area.draw_text(&self.y.label, &upright, (scale.units(place.left + 9.0), halfway))?;
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
