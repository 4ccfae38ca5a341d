export declare const mutations: Record<'name' | 'file' | 'line' | 'broken' | 'test' | 'red', string>[]
