import { expect } from 'chai'
import type { Address, Hex } from '../../../core/action.js'
import { startAnvil, type Anvil } from '../../support/anvil.js'
import { testDomain } from '../../support/builders.js'
import { EXECUTOR, openWalletStage, type WalletStage } from '../../support/wallet-stage.js'

const REFUSED = 'signature does not authorize this action'
const WALLET: Address = `0x${'aa'.repeat(20)}`
const MAGIC = `1626ba7e${'0'.repeat(56)}`
const { verifyingContract } = testDomain

/** Code that accepts, whatever it is asked. */
const ACCEPT = `7f${MAGIC}5f5260205ff3`
/** Accepts if what the code before it has left is not 0, else halts. */
const acceptIf = (code: string): string => {
  const dest = (code.length / 2 + 4).toString(16).padStart(2, '0')
  return `${code}60${dest}57fe5b${ACCEPT}`
}

/** How a wallet can end without an answer. */
const HALTS: Readonly<Record<string, string>> = {
  'the invalid opcode': 'fe',
  'an opcode that there is not': '0c',
  'a jump to no destination': '600156',
  'a stack without what is taken from it': '01',
  'a stack that is full': '5b5f5f56',
  'all its gas used in a loop': '5b5f56',
  'more memory than there is gas for': '62ffffff51',
  'memory beyond what can be counted': `7f${'ff'.repeat(32)}51`,
  'a copy of returned data out of bounds': '60015f5f3e',
  'calls of itself until there is no gas left': acceptIf('5f5f5f5f305afa'),
  'a revert without data': '5f5ffd',
  'a revert with the word of acceptance': `7f${MAGIC}5f5260205ffd`,
  'a stop': '00',
  'a word that lacks a byte': `7f${MAGIC}5f52601f5ff3`,
}

/** What changes the state; the code goes on to accept where that is allowed. */
const WRITES: Readonly<Record<string, string>> = {
  SSTORE: `60015f55${ACCEPT}`,
  TSTORE: `60015f5d${ACCEPT}`,
  LOG0: `5f5fa0${ACCEPT}`,
  LOG1: `5f5f5fa1${ACCEPT}`,
  CREATE: `5f5f5ff0${ACCEPT}`,
  CREATE2: `5f5f5f5ff5${ACCEPT}`,
  SELFDESTRUCT: '5fff',
  'CALL with value': `5f5f5f5f60016112345af1${ACCEPT}`,
}

/** Wallets that accept only where they are not asked as a match asks. */
const TELLS: Readonly<Record<string, string>> = {
  'a gas price of 0': acceptIf('3a15'),
  'a base fee of 0': acceptIf('4815'),
  'a gas price below the base fee': acceptIf('483a10'),
  'a gas price of more than 100 gwei': acceptIf('64174876e8003a11'),
  'another sender than the executor': acceptIf(`73${EXECUTOR.slice(2)}3218`),
  'another caller than the matching contract': acceptIf(`73${verifyingContract.slice(2)}3318`),
  'more gas than a match leaves it': acceptIf('6207a1205a11'),
}

/** The same wallets, which accept where they are asked as a match asks. */
const SAME: Readonly<Record<string, string>> = {
  'a gas price above the base fee': acceptIf('483a11'),
  'a base fee': acceptIf('48'),
  'the executor as the sender': acceptIf(`73${EXECUTOR.slice(2)}3214`),
  'the matching contract as the caller': acceptIf(`73${verifyingContract.slice(2)}3314`),
  // 500,000 less what was used up to here.
  'its gas in full': acceptIf('6207a0f85a11'),
  'a value of 0': acceptIf('3415'),
  'the time of the newest block': acceptIf('42'),
}

describe('orders of wallets that behave oddly', function () {
  let anvil: Anvil
  let stage: WalletStage

  before(async () => {
    anvil = await startAnvil()
    stage = await openWalletStage(anvil)
  })
  after(async () => {
    await stage.stop()
    await anvil.stop()
  })

  async function placeBy(code: string): Promise<string> {
    const bytecode: Hex = `0x${code}`
    await anvil.client.setCode({ address: WALLET, bytecode })
    return stage.place(WALLET)
  }

  it('are taken of one that accepts whatever it is asked', async () => {
    expect(await placeBy(ACCEPT)).to.equal('checked')
  })
  for (const [what, code] of Object.entries(HALTS)) {
    it(`are refused of one that ends by ${what} (AUT-006)`, async () => {
      expect(await placeBy(code)).to.equal(REFUSED)
    })
  }
  for (const [what, code] of Object.entries(WRITES)) {
    it(`are refused of one that writes by ${what} (AUT-007)`, async () => {
      expect(await placeBy(code)).to.equal(REFUSED)
    })
  }
  for (const [what, code] of Object.entries(TELLS)) {
    it(`are refused of one that accepts only at ${what}`, async () => {
      expect(await placeBy(code)).to.equal(REFUSED)
    })
  }
  for (const [what, code] of Object.entries(SAME)) {
    it(`are taken of one that accepts only with ${what}`, async () => {
      expect(await placeBy(code)).to.equal('checked')
    })
  }
})
