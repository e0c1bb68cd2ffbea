import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'

const CONTRACTS = new URL('../../../devnet/contracts/', import.meta.url)
/** The contracts of the futures, and what they are made of. */
const SHARED = [
  ...['BaseManager', 'BaseModule', 'ManagedAsset', 'PositionTracking', 'TokenEscrow'],
  ...['TradeModule', 'WrappedERC20Asset', 'feeds/SignedFeed', 'feeds/SpotFeed'],
].map((name) => `${name}.sol`)
const FUTURES = readdirSync(new URL('futures/', CONTRACTS)).map((name) => `futures/${name}`)

/** An external or public function, or a public variable, that begins on this line. */
function surfaceOf(lines: readonly string[], at: number): string | undefined {
  const rest = lines.slice(at).join(' ')
  const declared = /^ {4}function (\w+)\([^{;]*[{;]/.exec(rest)
  if (declared !== null) return /\b(external|public)\b/.test(declared[0]) ? declared[1] : undefined
  if (!/^ {4}[\w(]/.test(lines[at] ?? '')) return undefined
  return /^[^;{]*\bpublic (?:constant |immutable )?(\w+)(?: =[^;]*)?;/.exec(rest)?.[1]
}

/** What callers of the contracts read of them. */
describe('the documentation of the contracts of futures', () => {
  for (const name of [...SHARED, ...FUTURES]) {
    it(`is there for each external function and public variable of ${name}`, () => {
      const lines = readFileSync(new URL(name, CONTRACTS), 'utf8').split('\n')
      const bare = lines.flatMap((_, at) => {
        const found = surfaceOf(lines, at)
        const isDocumented = /^ {4}(\/\/\/|\*\/)/.test(lines[at - 1] ?? '')
        return found === undefined || isDocumented ? [] : [`${at + 1}: ${found}`]
      })
      expect(bare).to.deep.equal([])
    })
  }
})
