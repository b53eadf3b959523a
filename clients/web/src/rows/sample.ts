/**
 * Sixteen packed rows of the usual types and codecs, in base64: what `ready` decodes, so that no page waits for an
 * engine that meets the decoder for the first time. test/ready.test.ts says what is in them.
 */
export const sample =
    "p1RUASkInqGZCAFuAgF4AgVjb2xvchAEbmFtZRACaWSDAmF0DgEBBXByaWNlCgJvbgC9AZUJs0kQAwECAhkCAAsA2IZtIsW2I1ojNow6mxCjwZpDia2HNQEG" +
    "AgAYAAAAeTee8248baba5t14YBUX2ky1VIRTzbvxR/OPwSouOmLMtJlqLtEIqAinIUBFFAQCAAIGAghyZWRncmVlbgIAAbZtEwEAAiAHdAACAAXAoSKgOiSw" +
    "ZAAiAoCgq/75Yg0AIHoQvWiHJ5IiK8hZ4CkFMqpIBiviAHXJlhMBAgQAA6EB6AcCAAEBEAAAAAAABwACyAEHZQACvbA/4QAQ";
