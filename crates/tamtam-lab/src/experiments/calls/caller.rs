//! A client with its work: it writes requests, reads answers, and verifies each.

use serde::Deserialize;
use serde::de::Error as _;

use super::work::{Page, Request};
use super::{Around, Client, Done};
use crate::Failure;

/// The first record that is asked for. All that follow have as many digits.
const FIRST_RECORD: u64 = 1_000_000;
/// How many records a set has: a client that has seen all begins anew, with the next set of its own.
const RECORDS_OF_A_SET: u64 = 8_000_000;

/// A client with its work.
#[derive(Debug)]
pub(super) struct CallingClient<C> {
    client: C,
    /// What comes next.
    request: Request,
    done: Done,
}

impl<C: Client> CallingClient<C> {
    /// The client `number`, which asks for so many `records` at a time, of sets that no other client asks for.
    pub(super) fn new(client: C, number: usize, records: u64) -> Self {
        CallingClient {
            client,
            request: Request {
                set: 1 + number as u64,
                offset: FIRST_RECORD,
                limit: records,
            },
            done: Done::default(),
        }
    }

    /// Makes one call, the marshalling of both sides included, and verifies its answer.
    pub(super) fn call(&mut self) -> Result<(), Failure> {
        let request = self.request;
        let asked = serde_json::to_vec(&request).expect("numbers are always JSON");
        let bytes = asked.len();
        let answer = self.client.call(asked)?;
        let (page, around) = read(&answer, self.client.around()).map_err(|error| {
            Failure::Unverified(format!(
                "the {} bytes that answer {request:?} are none: {error}",
                answer.len()
            ))
        })?;
        request.verify(&page).map_err(Failure::Unverified)?;
        self.done.calls += 1;
        self.done.bytes += (bytes + answer.len() - around) as u64;
        self.request.offset += request.limit;
        if self.request.offset >= FIRST_RECORD + RECORDS_OF_A_SET {
            self.request.set += 100;
            self.request.offset = FIRST_RECORD;
        }
        Ok(())
    }

    /// What it has done so far.
    pub(super) fn done(&self) -> Done {
        self.done
    }

    /// What it has done since it had done `before`.
    pub(super) fn since(&self, before: Done) -> Done {
        Done {
            calls: self.done.calls - before.calls,
            bytes: self.done.bytes - before.bytes,
        }
    }
}

/// An answer of JSON-RPC.
#[derive(Deserialize)]
struct Answered<'a> {
    jsonrpc: &'a str,
    id: u64,
    result: Page,
}

/// The page in an answer, and how many bytes the answer has around it.
fn read(answer: &[u8], around: Around) -> serde_json::Result<(Page, usize)> {
    match around {
        Around::Nothing => serde_json::from_slice(answer).map(|page| (page, 0)),
        Around::JsonRpc => {
            const AROUND: usize = br#"{"jsonrpc":"2.0","result":,"id":1}"#.len();
            let answered: Answered<'_> = serde_json::from_slice(answer)?;
            if (answered.jsonrpc, answered.id) != ("2.0", 1) {
                let reason = format!("it answers {}", answered.id);
                return Err(serde_json::Error::custom(reason));
            }
            Ok((answered.result, AROUND))
        }
    }
}
