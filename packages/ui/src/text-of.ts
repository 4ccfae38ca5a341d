/** The text of a field, without space around it. */
export const textOf = (fields: FormData, name: string): string => String(fields.get(name) ?? '').trim()
