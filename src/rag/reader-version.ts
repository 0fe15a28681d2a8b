/**
 * Which reader finds the chunks of documents. It rises when some documents are read otherwise than
 * before; those that an earlier reader has read are then read again.
 */
export const readerVersion = 2
