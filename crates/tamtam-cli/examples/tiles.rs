//! Which forms of the article's tables does a browser have ready soonest? This writes them: `tiles FOLDER COUNT...`
//! makes `FOLDER/COUNT/TABLE.FORM`, which `npm run measure -- --payloads FOLDER` in `clients/web` reads in Chromium.

#![forbid(unsafe_code)]

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use tamtam_lab::tables;
use tamtam_rows::{Rows, Value, encoding};

/// The forms that a page can read without a library, and ours.
const FORMS: [&str; 6] = [
    "packed",
    "packed-small",
    "packed-plain",
    "json-arrays",
    "json-objects",
    "json-columns",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().ok_or("say where: tiles FOLDER COUNT...")?;
    for argument in arguments {
        let count: usize = argument
            .parse()
            .map_err(|error| format!("{argument:?} is no number of rows: {error}"))?;
        let folder = Path::new(&folder).join(count.to_string());
        fs::create_dir_all(&folder)?;
        for table in tables::ALL.iter().filter(|table| table.of_the_article) {
            let rows = table.rows(count)?;
            fs::write(folder.join(format!("{}.text", table.name)), text(&rows)?)?;
            for form in FORMS {
                let encoding = encoding::find(form)
                    .ok_or_else(|| format!("the form {form} was not compiled in"))?;
                let mut bytes = Vec::new();
                encoding.encode(&rows, &mut bytes)?;
                fs::write(folder.join(format!("{}.{form}", table.name)), bytes)?;
            }
        }
    }
    Ok(())
}

/// `n,x,y,c,r\r\n` a row, as the article has it.
fn text(rows: &Rows) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    for row in 0..rows.len() {
        for (index, (field, column)) in rows.fields().enumerate() {
            if index > 0 {
                text.push(',');
            }
            match column.value(field.kind(), row) {
                Value::Int(number) => write!(text, "{number}")?,
                Value::Text(color) => text.push_str(color),
                other => return Err(format!("{other:?} in a tile").into()),
            }
        }
        text.push_str("\r\n");
    }
    Ok(text)
}
