/** What of a generation was asked for. */
export type GenerationInput = {
  contentType: 'image' | 'video' | 'audio' | 'glb'
  /** All parameters sent to the provider, prompt included. */
  input: Readonly<Record<string, unknown>>
}

/** A generation as its provider has it. */
export type Prediction = {
  id: string
  status: 'processing' | 'succeeded' | 'failed' | 'canceled'
  /** Where the output can be had from the provider, which may not last. */
  outputUrl: string | null
  error: string | null
}

export type Output = { bytes: AsyncIterable<Uint8Array>; mediaType: string }

/** The provider cannot be reached or is busy: the same may succeed later. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}

/** The provider refused it or broke its protocol; the message may be shown to the user. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault'
}

/** Makes images, sounds and models in the style of prediction APIs: create, then poll. */
export type ContentProvider = {
  /** The model that makes this type of content. */
  versionOf(contentType: GenerationInput['contentType']): string
  /**
   * `key` is the same for a request that is sent again; a provider that honours it makes it once.
   * `webhook` is called when it is over. @throws ProviderUnavailable, ProviderFault
   */
  create(input: GenerationInput, key: string, webhook?: string): Promise<Prediction>
  /** @throws ProviderUnavailable, ProviderFault */
  poll(id: string, input: GenerationInput): Promise<Prediction>
  cancel(id: string): Promise<void>
  /** @throws ProviderUnavailable, ProviderFault */
  output(prediction: Prediction, input: GenerationInput): Promise<Output>
}
