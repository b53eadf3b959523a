/**
 * Sixteen packed rows of the usual types and codecs, in base64: what `ready` decodes, so that no page waits for an
 * engine that meets the decoder for the first time. test/ready.test.ts says what is in them.
 */
export const sample =
    "p1RUASkInqGZCAFuAgF4AgVjb2xvchAEbmFtZRACaWSDAmF0DgEBBXByaWNlCgJvbgAQvAAAAEwnZwIDAQICGQIACwDYhm0ixbYjWiM2jDqbEKPBmkOJ" +
    "rYc1AQYCABgAAAB5N57zbjxtptrm3XhgFRfaTLVUhFPNu/FH84/BKi46Ysy0mWou0QioCKchQEUUBAIAAgYCCHJlZGdyZWVuAgABtm0TAQACIAd0AAIA" +
    "BcChIqA6JLBkACICgKCr/vliDQAgehC9aIcnkiIryFngKQUyqkgGK+IAdcmWEwECBAADoQHoBwIAAQEQAAAAAAAHAALIAQdlAAAQ";
