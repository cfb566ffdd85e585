//! Finds the leaf of a grown tree that each row reaches, given the codes (bin numbers) of the features of the row.

use super::codes::{Codes, Coding};
use super::grow::GrownNode;
use super::search::LeftCodes;

/// Number of rows that go through a tree at the same time. While one row waits at a node for data from memory, the other rows can go on.
const ROWS: usize = 8;

/// A grown tree in a compact form, for rows whose features are given as codes (bin numbers).
#[derive(Clone, Debug)]
pub(super) struct CodeTree {
    nodes: Vec<CodeNode>,
}

/// A node of a tree. A leaf is its own left child and sends all rows to the left, so that a row stays in the leaf that it has reached.
#[derive(Clone, Copy, Debug)]
struct CodeNode {
    left: u32,
    feature: u32,
    left_codes: LeftCodes,
}

impl CodeTree {
    /// Converts the nodes of a grown tree. `codings` has one element for each feature.
    pub fn new(nodes: &[GrownNode], codings: &[Coding]) -> Self {
        let node = |(index, node): (usize, &GrownNode)| match node.split {
            Some((split, left)) => CodeNode {
                left: left as u32,
                feature: split.feature as u32,
                left_codes: LeftCodes::of(split, &codings[split.feature]),
            },
            None => CodeNode { left: index as u32, feature: 0, left_codes: LeftCodes { low: 0, span: u8::MAX } },
        };
        CodeTree { nodes: nodes.iter().enumerate().map(node).collect() }
    }

    /// Calls `found` for every row in `rows`, with the index of the row and the index of the leaf that the row reaches.
    pub fn leaves(&self, codes: &Codes, rows: impl Iterator<Item = u32>, mut found: impl FnMut(usize, usize)) {
        if self.nodes.len() == 1 {
            rows.for_each(|row| found(row as usize, 0));
            return;
        }
        let (features, all) = (codes.features, codes.all());
        let mut rows = rows.fuse();
        loop {
            let (mut starts, mut count) = ([0; ROWS], 0);
            let mut block = [0; ROWS];
            for row in rows.by_ref().take(ROWS) {
                (block[count], starts[count]) = (row as usize, row as usize * features);
                count += 1;
            }
            if count == 0 {
                return;
            }
            let mut places = [0u32; ROWS];
            loop {
                let mut changes = 0;
                for (place, start) in places.iter_mut().zip(&starts) {
                    let node = self.nodes[*place as usize];
                    let code = all[start + node.feature as usize];
                    let next = node.left + u32::from(!node.left_codes.contain(code));
                    changes |= next ^ *place;
                    *place = next;
                }
                if changes == 0 {
                    break;
                }
            }
            for (row, place) in block.iter().zip(places).take(count) {
                found(*row, place as usize);
            }
        }
    }
}
