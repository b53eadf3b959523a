//! A table of answers to a long questionnaire.

use tamtam_rows::{Column, ColumnBuilder, Field, Kind, Rows, Schema, ShapeError, Value};

use super::random::{Random, Weights};
use super::words;

/// How many questions there are beside the number and the age.
const QUESTIONS: usize = 198;

/// One question: what is answered, how often, and which way people lean.
#[derive(Debug)]
struct Question {
    asks: Asks,
    /// In which part of the questionnaire it stands: parts are skipped as a whole.
    part: usize,
    answered: f64,
    leaning: Weights,
}

#[derive(Debug, PartialEq)]
enum Asks {
    /// How much one agrees, from 1 to 5.
    Agreement,
    YesNo,
    /// How many, small.
    HowMany,
    FreeText,
}

/// The answers to a long questionnaire: one row a person, and most questions not answered.
pub(super) fn rows(count: usize) -> Result<Rows, ShapeError> {
    let mut random = Random::new(0x7375_7276);
    let frequency = words::frequency();
    let questions: Vec<Question> = (0..QUESTIONS)
        .map(|number| {
            let asks = match number % 33 {
                7 | 15 | 23 | 30 => Asks::YesNo,
                11 | 26 => Asks::HowMany,
                32 if number > 90 => Asks::FreeText,
                _ => Asks::Agreement,
            };
            let answered = if asks == Asks::FreeText {
                0.02
            } else {
                0.3 + 0.65 * random.unit()
            };
            let leaning = Weights::new((0..5).map(|_| random.log_normal(1.0, 0.8)));
            Question {
                asks,
                part: number / 22,
                answered,
                leaning,
            }
        })
        .collect();
    let parts: Vec<f64> = (0..QUESTIONS.div_ceil(22))
        .map(|part| {
            if part == 0 {
                0.95
            } else {
                0.08 + 0.3 * random.unit()
            }
        })
        .collect();

    let mut fields = vec![
        Field::new("person", Kind::U32),
        Field::nullable("age", Kind::U8),
    ];
    fields.extend(questions.iter().enumerate().map(|(number, question)| {
        let kind = match question.asks {
            Asks::Agreement => Kind::I8,
            Asks::YesNo => Kind::Bool,
            Asks::HowMany => Kind::I16,
            Asks::FreeText => Kind::Text,
        };
        Field::nullable(format!("q{}_{}", 1 + question.part, 1 + number), kind)
    }));
    let mut columns: Vec<ColumnBuilder> = fields
        .iter()
        .map(|field| ColumnBuilder::new(field.kind().clone()))
        .collect();
    for person in 0..count {
        columns[0].push(Value::Unsigned(1 + person as u64))?;
        let age = (random.log_normal(41.0, 0.35) as u64).clamp(14, 99);
        columns[1].push(if random.chance(0.93) {
            Value::Unsigned(age)
        } else {
            Value::Null
        })?;
        let taken: Vec<bool> = parts.iter().map(|&often| random.chance(often)).collect();
        // Some agree with everything.
        let agreeable = random.below(5);
        for (question, column) in questions.iter().zip(&mut columns[2..]) {
            if !taken[question.part] || !random.chance(question.answered) {
                column.push_null();
                continue;
            }
            match question.asks {
                Asks::Agreement if random.chance(0.2) => {
                    column.push(Value::Int(1 + agreeable as i64))?
                }
                Asks::Agreement => {
                    column.push(Value::Int(1 + question.leaning.pick(&mut random) as i64))?;
                }
                Asks::YesNo => column.push(Value::Bool(question.leaning.pick(&mut random) > 1))?,
                Asks::HowMany => {
                    column.push(Value::Int((random.pareto() - 1.0).min(300.0) as i64))?
                }
                Asks::FreeText => {
                    let length = 2 + (random.exponential() * 12.0) as usize;
                    column.push(Value::Text(&words::prose(&mut random, &frequency, length)))?;
                }
            }
        }
    }
    Rows::new(
        Schema::new(fields)?,
        columns
            .into_iter()
            .map(ColumnBuilder::finish)
            .collect::<Vec<Column>>(),
    )
}
