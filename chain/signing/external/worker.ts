import { workerData, type MessagePort } from 'node:worker_threads'
import type { NumberedCall, NumberedReply, SignerCall, SignerReply } from './external-signer.js'

/** As external-signer.ts names it; a value import would start this thread's modules again. */
const NO_ANSWER = 'no answer in time'

/** The thread that speaks HTTP with an external signer (external-signer.ts): one call at a time. */
const { port, state } = workerData as { readonly port: MessagePort; readonly state: Int32Array }

/** More than any answer of the interface. */
const MAX_ANSWER_BYTES = 1024 * 1024

port.on('message', ({ id, call }: NumberedCall) => {
  void answer(call).then((reply) => {
    port.postMessage({ id, reply } satisfies NumberedReply)
    Atomics.add(state, 0, 1)
    Atomics.notify(state, 0)
  })
})

async function answer({ url, body, timeoutMs }: SignerCall): Promise<SignerReply> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const sent = {
      method: 'POST',
      body: body ?? '',
      headers: { 'content-type': 'application/json', accept: 'text/plain' },
    }
    const answered = await fetch(url, {
      // A signer that sends elsewhere is not the one that was configured.
      signal,
      redirect: 'error',
      ...(body !== undefined && sent),
    })
    return { status: answered.status, text: await textOf(answered) }
  } catch (error) {
    const { name, message, cause } = error as Error
    const code = (cause as { readonly code?: string } | undefined)?.code
    return { error: name === 'TimeoutError' ? NO_ANSWER : (code ?? message) }
  }
}

async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body ?? []) {
    bytes += (part as Uint8Array).length
    if (bytes > MAX_ANSWER_BYTES) throw new Error('an answer that is too long')
    parts.push(part as Uint8Array)
  }
  return Buffer.concat(parts).toString('utf8')
}
