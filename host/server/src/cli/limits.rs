//! `hub limits`.

use clap::Args;

use crate::components::components;
use crate::limits;

#[derive(Args, Debug)]
pub(super) struct Limits {
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

impl Limits {
    pub(super) fn print(&self) {
        if self.json {
            println!("{}", limits::to_json(components().limits()));
        } else {
            print!("{}", limits::document(components().limits()));
        }
    }
}
