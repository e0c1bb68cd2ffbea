import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Compiler } from 'solc'
import type { Abi } from 'viem'
import type { Hex } from '../../core/action.js'

const PROJECT_ROOT = new URL('../../../', import.meta.url)
const SOURCES = new URL('devnet/contracts/', PROJECT_ROOT)
const PACKAGES = new URL('node_modules/', PROJECT_ROOT)
const CACHE = new URL('.cache/contracts/', PROJECT_ROOT)
const COMPILER_PACKAGES = ['solc', '@openzeppelin/contracts']

const SETTINGS = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 200 },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
}

const CONTRACT_NAMES = [
  'BatchExecutor',
  'CashAsset',
  'DemoSeeder',
  'DepositModule',
  'DevCngn',
  'DevSeeder',
  'DevUsdc',
  'DutchAuction',
  'FutureAsset',
  'FutureLiquidationModule',
  'FutureTradeModule',
  'FuturesManager',
  'LiquidateModule',
  'Matching',
  'PerpAsset',
  'PerpManager',
  'SecurityModule',
  'SpotDiffFeed',
  'SpotFeed',
  'StandardManager',
  'SubAccountCreator',
  'SubAccounts',
  'TradeModule',
  'WithdrawalModule',
  'WrappedERC20Asset',
] as const

export type ContractName = (typeof CONTRACT_NAMES)[number]

/** Input of a deployment: the ABI and the creation bytecode, without constructor arguments. */
export interface Artifact {
  readonly abi: Abi
  readonly bytecode: Hex
}

export type Artifacts = Readonly<Record<ContractName, Artifact>>

/** The compiler refused the sources; the message holds its diagnostics. */
export class CompileError extends Error {
  override readonly name = 'CompileError'
}

type Sources = Record<string, { content: string }>

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts?: Record<
    string,
    Record<
      string,
      { readonly abi: Abi; readonly evm: { readonly bytecode: { readonly object: string } } }
    >
  >
}

/**
 * ABIs and bytecode of the development chain's contracts. Compiles once per state of the sources and keeps the
 * latest result under `.cache/`; throws CompileError when the sources do not compile.
 */
export async function compileContracts(): Promise<Artifacts> {
  const sources = await readSources()
  const cacheFile = new URL(`${await cacheKey(sources)}.json`, CACHE)
  const cached = await readCached(cacheFile)
  if (cached !== undefined) return cached
  const artifacts = await compile(sources)
  await dropCached()
  await writeCached(cacheFile, artifacts)
  return artifacts
}

async function readSources(): Promise<Sources> {
  const files = await readdir(SOURCES, { recursive: true })
  const names = files.filter((name) => name.endsWith('.sol')).sort()
  const contents = await Promise.all(names.map((name) => readFile(new URL(name, SOURCES), 'utf8')))
  return Object.fromEntries(names.map((name, i) => [name, { content: contents[i] ?? '' }]))
}

async function cacheKey(sources: Sources): Promise<string> {
  const versions = await Promise.all(
    COMPILER_PACKAGES.map((name) => readFile(new URL(`${name}/package.json`, PACKAGES), 'utf8')),
  )
  const everything = JSON.stringify([sources, SETTINGS, CONTRACT_NAMES, versions])
  return createHash('sha256').update(everything).digest('hex')
}

async function readCached(file: URL): Promise<Artifacts | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Artifacts
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`cannot read the contract cache ${fileURLToPath(file)}`, { cause: error })
  }
}

/** Deletes the results of earlier sources. */
async function dropCached(): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  const stale = (await readdir(CACHE)).filter((name) => name.endsWith('.json'))
  await Promise.all(stale.map((name) => rm(new URL(name, CACHE), { force: true })))
}

/** By rename, so that a reader never sees half a file and concurrent compilations do not mix. */
async function writeCached(file: URL, artifacts: Artifacts): Promise<void> {
  const temporary = new URL(`${randomUUID()}.tmp`, CACHE)
  await writeFile(temporary, JSON.stringify(artifacts))
  await rename(temporary, file)
}

async function compile(sources: Sources): Promise<Artifacts> {
  const solc = await loadCompiler()
  const input = JSON.stringify({ language: 'Solidity', sources, settings: SETTINGS })
  const output = JSON.parse(solc.compile(input, { import: readImport })) as CompilerOutput
  const errors = (output.errors ?? []).filter((e) => e.severity === 'error')
  if (errors.length > 0) throw new CompileError(errors.map((e) => e.formattedMessage).join('\n'))
  const compiled = Object.assign({}, ...Object.values(output.contracts ?? {})) as NonNullable<
    CompilerOutput['contracts']
  >[string]
  const artifacts = CONTRACT_NAMES.map((name) => {
    const contract = compiled[name]
    if (contract === undefined) throw new CompileError(`the sources define no contract ${name}`)
    return [name, { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` }]
  })
  return Object.fromEntries(artifacts) as Artifacts
}

/**
 * Loads the compiler on demand: it costs half a second and a hundred megabytes. Removes the handler of unhandled
 * rejections that the compiler installs in the process.
 */
export async function loadCompiler(): Promise<Compiler> {
  const before = process.listeners('unhandledRejection')
  const { default: solc } = await import('solc')
  for (const listener of process.listeners('unhandledRejection')) {
    if (!before.includes(listener)) process.off('unhandledRejection', listener)
  }
  return solc
}

function readImport(path: string): { contents: string } | { error: string } {
  try {
    return { contents: readFileSync(new URL(path, PACKAGES), 'utf8') }
  } catch (error) {
    return { error: `cannot read ${path}: ${String(error)}` }
  }
}
