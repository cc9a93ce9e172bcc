//! The console's look, for the other pages of the hub: its styles, scripts, icons and headers.

use minijinja::Environment;

pub use crate::compress::gzip;
pub use crate::drawing::escaped;
pub use crate::policy::headers;

use crate::language::Language;
use crate::templates;

/// Environment with all shapes of the console in English, and without templates.
pub fn environment() -> Environment<'static> {
    templates::shapes(&Language::all()[0])
}
