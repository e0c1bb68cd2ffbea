import { readFileSync } from 'node:fs'
import { parseAbi, type PublicClient } from 'viem'
import type { Address } from '../../core/action.js'
import { inProject } from '../../devnet/launcher/binaries.js'

/** `of.getter(argument) = answer`, by keys of the deployment file; the answer may be `true`. */
export interface Statement {
  readonly text: string
  readonly of: string
  readonly getter: string
  /** Empty where the getter has none. */
  readonly argument: string
  readonly answer: string
}

export const deploymentPage = (): string =>
  readFileSync(inProject('docs/GO-LIVE-CONTRACTS.md'), 'utf8')

/** What the page states of a deployment that fits together. */
export const statements = (): readonly Statement[] =>
  [...deploymentPage().matchAll(/`(\w+)\.(\w+)\((\w*)\) = (\w+)`/g)].map(
    ([text, of = '', getter = '', argument = '', answer = '']) => ({
      text,
      of,
      getter,
      argument,
      answer,
    }),
  )

/** What the chain answers to a statement's getter: an address in small letters, or `true` or `false`. */
export async function askStatement(
  client: Pick<PublicClient, 'readContract'>,
  at: Readonly<Record<string, unknown>>,
  { of, getter, argument, answer }: Statement,
): Promise<string> {
  const type = answer === 'true' ? 'bool' : 'address'
  const signature = `function ${getter}(${argument === '' ? '' : 'address'}) view returns (${type})`
  const found = await client.readContract({
    address: at[of] as Address,
    abi: parseAbi([signature] as readonly string[]),
    functionName: getter,
    args: argument === '' ? [] : [at[argument]],
  })
  return String(found).toLowerCase()
}
