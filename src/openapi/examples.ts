/**
 * Returns the text of a placeholder, such as `{{open-day+5}}`.
 * Examples have placeholders where a fixed text would be refused at some later time: dates, and references that are new.
 */
export type ExampleValues = (placeholder: string) => string

/** Replaces the placeholders in the text of a document. */
export const withExamples = (text: string, values: ExampleValues): string => text.replace(/\{\{[^{}]+\}\}/g, values)

declare module 'fastify' {
  interface FastifySchema {
    /** The parameters in the example of the operation, where the examples of its schemas would not do. */
    'x-example'?: Readonly<Record<string, string>>
    /** The command of a call of the control plane. */
    'x-command'?: string
  }
}
