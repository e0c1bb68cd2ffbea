import assert from 'node:assert'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { compileFunction } from 'node:vm'
import * as ccxt from 'ccxt'
import type { VenuePro } from '../../../../ccxt/index.js'

/** CCXT's own test files, as its last release that ships them has them. */

/** One file of theirs, on one market where it asks for a symbol. */
export interface UpstreamCase {
  /** The method, and the symbol's type where there is one: `fetchTicker swap`. */
  readonly name: string
  readonly isStream: boolean
  readonly run: (exchange: VenuePro) => Promise<unknown>
}

type UpstreamTest = (exchange: VenuePro, symbol?: string) => Promise<unknown>

const root = dirname(createRequire(import.meta.url).resolve('ccxt-tests/package.json'))
const FOLDERS = ['js/test/Exchange', 'js/pro/test/Exchange', 'js/test/errors']
/** Of the errors those that their files can provoke on an account with money. */
const ERRORS = ['InvalidOrder', 'OrderNotFound']

const nothing = (): void => undefined
/** What they log is of no use here. */
const quiet = Object.assign(nothing, { log: nothing, red: nothing })
/** They hold times of the venue to be before their own; the chain's clock may be some blocks ahead. */
const clock = { now: (): number => Date.now() + 5_000 }

/** Runs a file with the error classes of the CCXT that is tested, without its log. */
function load(file: string): unknown {
  const module: { exports: unknown } = { exports: undefined }
  const require = (name: string): unknown => {
    if (name === 'assert') return assert
    if (name === 'ololog') return quiet
    if (/\/(errors|ccxt)\.js$/.test(name)) return ccxt
    const path = join(dirname(file), name)
    return load(existsSync(path) ? path : `${path}.js`)
  }
  const names = ['module', 'require', 'console', 'Date']
  const run = compileFunction(readFileSync(file, 'utf8'), names, { filename: file })
  run(module, require, quiet, clock)
  return module.exports
}

/** Whether a file tests a method that the class has, or an error. */
const isTested = ({ has }: VenuePro, method: string): boolean =>
  method === 'loadMarkets' || has[method] === true || ERRORS.includes(method)

/** The cases of all methods that the class has; a test that takes a symbol is a case for each market. */
export function upstreamCases(
  exchange: VenuePro,
  markets: readonly { readonly symbol: string; readonly type: string }[],
): UpstreamCase[] {
  const cases: UpstreamCase[] = []
  for (const folder of FOLDERS)
    for (const file of readdirSync(join(root, folder)).toSorted()) {
      const [, method = ''] = /^test\.(\w+)\.js$/.exec(file) ?? []
      if (!isTested(exchange, method)) continue
      const test = load(join(root, folder, file)) as UpstreamTest
      const isStream = method.startsWith('watch')
      if (test.length === 1) cases.push({ name: method, isStream, run: (of) => test(of) })
      else
        for (const { symbol, type } of markets) {
          const name = `${method} ${type}`
          cases.push({ name, isStream, run: (of) => test(of, symbol) })
        }
    }
  return cases
}
