//! Reading of a file in a child process, which is confined like the compiler of modules.
//!
//! The child opens the file, sets itself limits, gives up all other files, the network and other processes, and then
//! reads the file twice: first completely, then record by record. It writes [`Message`]s; the hub converts them and
//! writes them to the database. A child is as far ahead as the pipe between them allows. It ends when the hub drops its
//! [`FileReader`], and also if the hub is killed.

mod child;
mod fuzzed;
mod message;
mod parent;
mod parse;

pub use child::child_main;
pub use fuzzed::{FILE_KINDS, read_fuzzed, read_weighed};
pub(super) use message::ReadRequest;
pub(super) use parent::{FileReader, OWN_ERROR, Progress, ReadError};

use message::Message;
