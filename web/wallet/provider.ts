import type { Hex, Address } from '../../core/action.js'
import { faultOf, WalletFault } from './fault.js'

/** A wallet as it stands in the page (EIP-1193). */
export interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
  on?(event: string, listener: (value: never) => void): unknown
  removeListener?(event: string, listener: (value: never) => void): unknown
}

/** Reads that ask no one are answered at once; a wallet that is silent for so long has gone. */
const READ_WITHIN_MS = 10_000

export interface WalletRequest {
  readonly method: string
  readonly params?: readonly unknown[]
  /** What is asked for, in a sentence: "the signature". */
  readonly deed: string
  /** Whether the wallet asks its user, who may take any time. */
  readonly prompts?: boolean
}

/** Asks a wallet; the one place where its rejections are read. Throws WalletFault. */
export async function askWallet(provider: Provider, asking: WalletRequest): Promise<unknown> {
  const { method, params = [], deed, prompts = false } = asking
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    if (prompts) return
    timer = setTimeout(
      () =>
        reject(
          new WalletFault(
            'silent',
            'The wallet does not answer.',
            'Reload the wallet or the page, then try again.',
          ),
        ),
      READ_WITHIN_MS,
    )
  })
  try {
    return await Promise.race([provider.request({ method, params }), late])
  } catch (error) {
    throw faultOf(error, deed)
  } finally {
    clearTimeout(timer)
  }
}

/** An answer that has another form than the standard says. */
export const oddAnswer = (deed: string): WalletFault =>
  new WalletFault(
    'failed',
    `The wallet gave no usable answer to ${deed}.`,
    'Try again, or use another wallet.',
  )

/** Reads 0x and hex digits. Throws WalletFault. */
export function readHex(answer: unknown, deed: string): Hex {
  if (typeof answer === 'string' && /^0x[0-9a-fA-F]*$/.test(answer)) return answer as Hex
  throw oddAnswer(deed)
}

/** The addresses of an answer, in lower case; none for anything else. */
export const readAddresses = (answer: unknown): Address[] =>
  (Array.isArray(answer) ? answer : []).flatMap((each: unknown) =>
    typeof each === 'string' && /^0x[0-9a-fA-F]{40}$/.test(each)
      ? [each.toLowerCase() as Address]
      : [],
  )

/** What the wallet's chain holds at an address, and what a call answers, read through the wallet: the page reaches no other host. */
export const readCall = async (
  provider: Provider,
  call: { readonly to: Address; readonly data: Hex },
): Promise<Hex> => {
  const deed = 'the reading of the chain'
  return readHex(
    await askWallet(provider, { method: 'eth_call', params: [call, 'latest'], deed }),
    deed,
  )
}
