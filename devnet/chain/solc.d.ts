/** The part of the compiler's untyped package that compile-contracts.ts uses. */
declare module 'solc' {
  export interface Compiler {
    compile(
      input: string,
      callbacks: { import: (path: string) => { contents: string } | { error: string } },
    ): string
  }
  const solc: Compiler
  export default solc
}
