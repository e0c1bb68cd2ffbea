import { expect } from 'chai'
import type { Abi, AbiEvent, AbiFunction } from 'viem'
import { toEventSignature, toFunctionSignature } from 'viem'
import { batchExecutorAbi } from '../../chain/abi/batch-executor.js'
import { cashAssetAbi } from '../../chain/abi/cash-asset.js'
import { depositModuleAbi } from '../../chain/abi/deposit-module.js'
import { erc20Abi } from '../../chain/abi/erc20.js'
import { managerAbi } from '../../chain/abi/manager.js'
import { matchingAbi } from '../../chain/abi/matching.js'
import { subAccountsAbi } from '../../chain/abi/sub-accounts.js'
import { tradeModuleAbi } from '../../chain/abi/trade-module.js'
import { withdrawalModuleAbi } from '../../chain/abi/withdrawal-module.js'
import { wrappedErc20AssetAbi } from '../../chain/abi/wrapped-erc20-asset.js'
import { errorsAbi } from '../../chain/abi/errors.js'
import { compileContracts } from '../../devnet/compile-contracts.js'
import type { Artifacts, ContractName } from '../../devnet/compile-contracts.js'

const CASES: readonly (readonly [ContractName, Abi])[] = [
  ['BatchExecutor', batchExecutorAbi],
  ['CashAsset', cashAssetAbi],
  ['DepositModule', depositModuleAbi],
  ['DevUsdc', erc20Abi],
  ['Matching', matchingAbi],
  ['StandardManager', managerAbi],
  ['SubAccounts', subAccountsAbi],
  ['TradeModule', tradeModuleAbi],
  ['WithdrawalModule', withdrawalModuleAbi],
  ['WrappedERC20Asset', wrappedErc20AssetAbi],
]

/** Declared by what the contracts inherit, but raised by nothing that the venue calls. */
const UNREACHABLE: readonly string[] = [
  'FailedCall',
  'InsufficientBalance',
  'InvalidAccountNonce',
  'InvalidShortString',
  'OnlyMinter',
  'StringTooLong',
]

/** A fragment with what it answers or indexes, in one comparable line. */
function line(item: AbiFunction | AbiEvent): string {
  if (item.type === 'event') {
    const indexed = item.inputs.map((input) => (input.indexed === true ? 'indexed' : 'plain'))
    return `event ${toEventSignature(item)} ${indexed.join()}`
  }
  const answers = flatTypes(item.outputs)
  return `function ${toFunctionSignature(item)} returns ${answers.join()}`
}

function flatTypes(parameters: AbiFunction['outputs']): string[] {
  return parameters.flatMap((p) =>
    'components' in p ? [`${p.type}(`, ...flatTypes(p.components), ')'] : [p.type],
  )
}

function lines(abi: Abi): string[] {
  return abi.flatMap((item) =>
    item.type === 'function' || item.type === 'event' ? [line(item)] : [],
  )
}

describe('the ABIs that the venue speaks', () => {
  let artifacts: Artifacts

  before(async function () {
    this.timeout(120_000)
    artifacts = await compileContracts()
  })

  for (const [name, abi] of CASES) {
    it(`${name} has every function and event named for it`, () => {
      expect(lines(artifacts[name].abi)).to.include.members(lines(abi))
    })
  }

  it('every error of the contracts can be named', () => {
    const known = new Set<string>([...errorsAbi.map((error) => error.name), ...UNREACHABLE])
    const unknown = Object.values(artifacts)
      .flatMap((artifact) => artifact.abi)
      .flatMap((item) => (item.type === 'error' && !known.has(item.name) ? [item.name] : []))
    expect(unknown).to.deep.equal([])
  })
})
