//! `hub limits`.

use clap::Args;

use crate::components::components;
use crate::limits;

#[derive(Args, Debug)]
pub(super) struct Limits {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Limits {
    pub(super) fn print(&self) {
        if self.json {
            print_json!(limits::to_json(components().limits()));
        } else {
            print!("{}", limits::document(components().limits()));
        }
    }
}
