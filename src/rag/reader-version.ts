/**
 * The version of the reader, which finds the chunks of documents. Raise it when some documents have
 * other chunks than before: those that an earlier reader has read are then read again.
 */
export const readerVersion = 3
