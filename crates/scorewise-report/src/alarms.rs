//! Events and alarms on the axis of time. The predictions are a line, events are ticks above it, and alarms are bars below it. The colour of a
//! tick or a bar shows whether it is a hit, an error with nearly the right timing, or another error.

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;

use crate::axes::{Axes, Axis};
use crate::document::RowOutcome;
use crate::error::{Error, Result};
use crate::legend::{Legend, Mark};
use crate::palette::{FRAME, GREEN, INK, ORANGE, VERMILLION};
use crate::panel::{Panel, REFERENCE_STROKE};
use crate::picture::{Area, Frame, Picture, PixelScale, Plot, Rect};
use crate::single_panel::{draw_legend, legend, legend_height};
use crate::stroke::Stroke;

/// Events and alarms in one or more stretches of a time series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlarmChart {
    /// The stretches, one panel each, from top to bottom.
    pub panels: Vec<AlarmPanel>,
    /// Label of the x axis of the last panel.
    pub label: String,
    /// The threshold; a row whose prediction is above it is an alarm.
    pub threshold: f64,
}

/// Consecutive rows of a time series, which are shown in one panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlarmPanel {
    /// Title of the panel.
    pub title: String,
    /// The x coordinate of the first row: its row number, counted from 1.
    pub first: f64,
    /// The prediction of each row.
    pub predictions: Vec<f64>,
    /// The outcome of each row, such as a hit or a miss.
    pub outcomes: Vec<RowOutcome>,
}

/// Draws events and alarms on the axis of time, with one panel for each stretch.
pub fn figure_alarms(chart: AlarmChart) -> Result<Picture> {
    let is_empty = |panel: &AlarmPanel| panel.predictions.is_empty() || panel.predictions.len() != panel.outcomes.len();
    if chart.panels.is_empty() || chart.panels.iter().any(is_empty) {
        return Err(Error::Empty);
    }
    Picture::new(chart)
}

/// Width and height of a panel, in pixels.
const PANEL_SIZE: (f64, f64) = (760.0, 190.0);
/// Additional height of the last panel, which has a label below its axis, in pixels.
const LABEL_HEIGHT: f64 = 20.0;
/// The range of the y axis: the predictions lie between 0 and 1, the alarms below 0 and the events above 1.
const Y_RANGE: (f64, f64) = (-0.24, 1.24);
/// The y coordinates of the lower and the upper end of the bars that mark alarms.
const ALARMS: (f64, f64) = (-0.18, -0.06);
/// The y coordinates of the lower and the upper end of the ticks that mark events.
const EVENTS: (f64, f64) = (1.06, 1.18);
/// Width of the tick that marks an event, as a fraction of the distance between two rows on the x axis.
const TICK_WIDTH: f64 = 0.7;
/// Style of the line of predictions.
const PREDICTION_STROKE: Stroke = Stroke::solid(INK, 1.25);
/// Style of the two lines that separate the predictions from the events above them and the alarms below them.
const LANE_STROKE: Stroke = Stroke::solid(FRAME, 0.75);

impl RowOutcome {
    /// The colour of the alarm in a row with this outcome; `None` if the row has no alarm.
    fn alarm_colour(self) -> Option<RGBColor> {
        match self {
            RowOutcome::Hit => Some(GREEN),
            RowOutcome::EarlyAlarm => Some(ORANGE),
            RowOutcome::FalseAlarm => Some(VERMILLION),
            _ => None,
        }
    }

    /// The colour of the event in a row with this outcome; `None` if the row has no event.
    fn event_colour(self) -> Option<RGBColor> {
        match self {
            RowOutcome::Hit => Some(GREEN),
            RowOutcome::MissAfterAlarm => Some(ORANGE),
            RowOutcome::Miss => Some(VERMILLION),
            _ => None,
        }
    }
}

impl AlarmChart {
    /// The title and the axes of the panel with this index.
    fn axes(&self, index: usize) -> Axes<'_> {
        let panel = &self.panels[index];
        let last = panel.first + panel.predictions.len() as f64 - 1.0;
        let label = if index + 1 == self.panels.len() { self.label.as_str() } else { "" };
        let x = Axis::new(label, panel.first - 0.5, last + 0.5).with_integer_ticks();
        Axes::new(&panel.title, x, Axis::new("prediction", Y_RANGE.0, Y_RANGE.1))
    }

    /// The rectangle of the panel with this index.
    fn rect(&self, index: usize) -> Rect {
        let (width, height) = PANEL_SIZE;
        let is_last = index + 1 == self.panels.len();
        Rect { left: 0.0, top: height * index as f64, width, height: height + if is_last { LABEL_HEIGHT } else { 0.0 } }
    }

    /// Height of all panels without the legend, in pixels.
    fn height(&self) -> f64 {
        PANEL_SIZE.1 * self.panels.len() as f64 + LABEL_HEIGHT
    }

    /// The legend for all panels.
    fn legend(&self) -> Legend {
        let entries = vec![
            (Mark::Band(GREEN, 1.0), "hit".to_string()),
            (Mark::Band(ORANGE, 1.0), "alarm shortly before an event, or event missed shortly after an alarm".into()),
            (Mark::Band(VERMILLION, 1.0), "other false alarm or missed event".into()),
            (Mark::Line(PREDICTION_STROKE), "prediction".into()),
            (Mark::Line(REFERENCE_STROKE), "threshold".into()),
        ];
        legend(entries, PANEL_SIZE.0)
    }
}

impl AlarmPanel {
    /// Draws the predictions, the threshold, the events and the alarms of the stretch.
    fn draw<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>, threshold: f64) -> Result<()> {
        for end in [0.0, 1.0] {
            panel.draw_horizontal_line(LANE_STROKE, end)?;
        }
        let place = |index: usize| self.first + index as f64;
        let line: Vec<(f64, f64)> =
            self.predictions.iter().enumerate().map(|(index, prediction)| (place(index), *prediction)).collect();
        panel.draw_line(PREDICTION_STROKE, &line)?;
        panel.draw_horizontal_line(REFERENCE_STROKE, threshold)?;
        let mut index = 0;
        // Alarms of the same colour in consecutive rows are one bar.
        for run in self.outcomes.chunk_by(|a, b| a.alarm_colour() == b.alarm_colour()) {
            if let Some(colour) = run[0].alarm_colour() {
                let (from, to) = (place(index) - 0.5, place(index + run.len()) - 0.5);
                panel.fill_rectangle(colour, 1.0, ((from, ALARMS.0), (to, ALARMS.1)))?;
            }
            index += run.len();
        }
        for (index, outcome) in self.outcomes.iter().enumerate() {
            if let Some(colour) = outcome.event_colour() {
                let (from, to) = (place(index) - 0.5 * TICK_WIDTH, place(index) + 0.5 * TICK_WIDTH);
                panel.fill_rectangle(colour, 1.0, ((from, EVENTS.0), (to, EVENTS.1)))?;
            }
        }
        Ok(())
    }
}

impl Plot for AlarmChart {
    fn size(&self) -> (u32, u32) {
        (PANEL_SIZE.0 as u32, (self.height() + legend_height(&self.legend())) as u32)
    }

    fn plotting_areas(&self) -> Vec<Frame> {
        (0..self.panels.len()).map(|index| self.axes(index).frame(self.rect(index))).collect()
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: PixelScale) -> Result<()> {
        for (index, panel) in self.panels.iter().enumerate() {
            panel.draw(&self.axes(index).draw(area, self.rect(index), scale)?, self.threshold)?;
        }
        draw_legend(&self.legend(), area, self.height(), scale)
    }
}
