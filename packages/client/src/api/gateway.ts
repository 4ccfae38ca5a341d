// Made from the OpenAPI document by test/openapi/client-types.test.ts: do not edit.
/* eslint-disable max-lines */
export interface paths {
    "/api/gateway/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answers a conversation, at once or as a stream.
         * @description For whoever has a gateway key.
         */
        post: operations["chat.completions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Turns texts into vectors.
         * @description For whoever has a gateway key.
         */
        post: operations["embeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/v1/images/generations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a picture.
         * @description For whoever has a gateway key.
         */
        post: operations["images.generations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/v1/audio/speech": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Speaks a text.
         * @description For whoever has a gateway key.
         */
        post: operations["audio.speech"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/v1/audio/transcriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Writes down what is said in a recording.
         * @description For whoever has a gateway key.
         */
        post: operations["audio.transcriptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the groups of models, and the models that the configured providers offer.
         * @description For whoever has a gateway key.
         */
        get: operations["models.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway/v1/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Describes a model, or a group of models.
         * @description For whoever has a gateway key.
         */
        get: operations["models.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ChatCompletionRequest: {
            model: string;
            messages: components["schemas"]["ChatMessage"][];
            stream?: boolean | null;
            stream_options?: ({
                include_usage?: boolean | null;
            } & {
                [key: string]: unknown;
            }) | null;
            max_tokens?: number | null;
            temperature?: number | null;
            top_p?: number | null;
            stop?: (string | string[]) | null;
            system?: string | null;
            tools?: components["schemas"]["ToolDefinition"][] | null;
            tool_choice?: (("auto" | "none" | "required") | ({
                /** @constant */
                type: "function";
                function: {
                    name: string;
                } & {
                    [key: string]: unknown;
                };
            } & {
                [key: string]: unknown;
            }) | ({
                /** @constant */
                type: "allowed_tools";
                allowed_tools: Record<string, never>;
            } & {
                [key: string]: unknown;
            }) | ({
                /** @constant */
                type: "custom";
                custom: {
                    name: string;
                } & {
                    [key: string]: unknown;
                };
            } & {
                [key: string]: unknown;
            })) | null;
            provider?: string | null;
            n?: number | null;
            functions?: ({
                name: string;
                description?: string | null;
                parameters?: Record<string, never> | null;
            } & {
                [key: string]: unknown;
            })[] | null;
            function_call?: (("auto" | "none") | ({
                name: string;
            } & {
                [key: string]: unknown;
            })) | null;
            max_completion_tokens?: number | null;
            seed?: number | null;
            top_k?: number | null;
            top_logprobs?: number | null;
            frequency_penalty?: number | null;
            presence_penalty?: number | null;
            service_tier?: string | null;
        } & {
            [key: string]: unknown;
        };
        ChatMessage: components["schemas"]["SystemMessage"] | components["schemas"]["DeveloperMessage"] | components["schemas"]["UserMessage"] | components["schemas"]["AssistantMessage"] | components["schemas"]["ToolMessage"] | components["schemas"]["FunctionMessage"];
        SystemMessage: {
            /** @constant */
            role: "system";
            content: string | components["schemas"]["ContentPart"][];
            name?: string | null;
        } & {
            [key: string]: unknown;
        };
        DeveloperMessage: {
            /** @constant */
            role: "developer";
            content: string | components["schemas"]["ContentPart"][];
            name?: string | null;
        } & {
            [key: string]: unknown;
        };
        UserMessage: {
            /** @constant */
            role: "user";
            content: string | components["schemas"]["ContentPart"][];
            name?: string | null;
        } & {
            [key: string]: unknown;
        };
        AssistantMessage: {
            /** @constant */
            role: "assistant";
            content?: (string | components["schemas"]["ContentPart"][]) | null;
            name?: string | null;
            tool_calls?: (components["schemas"]["ToolCall"] | components["schemas"]["CustomToolCall"])[] | null;
            function_call?: ({
                name: string;
                arguments: string;
            } & {
                [key: string]: unknown;
            }) | null;
        } & {
            [key: string]: unknown;
        };
        ToolMessage: {
            /** @constant */
            role: "tool";
            content: string | components["schemas"]["ContentPart"][];
            tool_call_id: string;
            name?: string | null;
        } & {
            [key: string]: unknown;
        };
        FunctionMessage: {
            /** @constant */
            role: "function";
            content?: (string | components["schemas"]["ContentPart"][]) | null;
            name: string;
        } & {
            [key: string]: unknown;
        };
        ContentPart: components["schemas"]["ContentPartText"] | components["schemas"]["ContentPartImage"] | components["schemas"]["ContentPartAudio"] | components["schemas"]["ContentPartVideo"] | components["schemas"]["ContentPartDocument"] | components["schemas"]["ContentPartRefusal"];
        ContentPartText: {
            /** @constant */
            type: "text";
            text: string;
        } & {
            [key: string]: unknown;
        };
        ContentPartImage: {
            /** @constant */
            type: "image_url";
            image_url: {
                url: string;
                detail?: ("auto" | "low" | "high") | null;
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        ContentPartAudio: {
            /** @enum {string} */
            type: "input_audio" | "audio" | "audio_url";
        } & {
            [key: string]: unknown;
        };
        ContentPartVideo: {
            /** @enum {string} */
            type: "video" | "video_url";
        } & {
            [key: string]: unknown;
        };
        ContentPartDocument: {
            /** @enum {string} */
            type: "file" | "document" | "document_url";
        } & {
            [key: string]: unknown;
        };
        ContentPartRefusal: {
            /** @constant */
            type: "refusal";
            refusal: string;
        } & {
            [key: string]: unknown;
        };
        ToolDefinition: components["schemas"]["FunctionTool"] | components["schemas"]["CustomTool"];
        FunctionTool: {
            /** @constant */
            type: "function";
            function: {
                name: string;
                description?: string | null;
                parameters?: Record<string, never> | null;
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        CustomTool: {
            /** @constant */
            type: "custom";
            custom: {
                name: string;
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        ToolCall: {
            id: string;
            /** @constant */
            type: "function";
            function: {
                name: string;
                arguments: string;
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        CustomToolCall: {
            id: string;
            /** @constant */
            type: "custom";
            custom: {
                name: string;
                input: string;
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        ChatCompletionResponse: {
            id: string;
            /** @constant */
            object: "chat.completion";
            created: number;
            model: string;
            choices: ({
                index: number;
                message: {
                    /** @constant */
                    role: "assistant";
                    content: string | null;
                    tool_calls?: (components["schemas"]["ToolCall"] | components["schemas"]["CustomToolCall"])[];
                } & {
                    [key: string]: unknown;
                };
                /** @enum {string} */
                finish_reason: "stop" | "length" | "tool_calls" | "content_filter";
            } & {
                [key: string]: unknown;
            })[];
            usage: components["schemas"]["Usage"];
        } & {
            [key: string]: unknown;
        };
        ChatCompletionChunk: {
            id: string;
            /** @constant */
            object: "chat.completion.chunk";
            created: number;
            model: string;
            choices: ({
                index: number;
                delta: {
                    /** @constant */
                    role?: "assistant";
                    content?: string | null;
                    tool_calls?: ({
                        index: number;
                        id?: string;
                        /** @enum {string} */
                        type?: "function" | "custom";
                        function?: {
                            name?: string;
                            arguments?: string;
                        } & {
                            [key: string]: unknown;
                        };
                    } & {
                        [key: string]: unknown;
                    })[];
                } & {
                    [key: string]: unknown;
                };
                finish_reason: ("stop" | "length" | "tool_calls" | "content_filter") | null;
            } & {
                [key: string]: unknown;
            })[];
            usage?: components["schemas"]["Usage"] | null;
        } & {
            [key: string]: unknown;
        };
        Usage: {
            prompt_tokens: number;
            completion_tokens: number;
            total_tokens: number;
        } & {
            [key: string]: unknown;
        };
        EmbeddingRequest: {
            input: string | string[] | number[] | number[][];
            model: string;
            dimensions?: number | null;
            encoding_format?: ("float" | "base64") | null;
            provider?: string | null;
        } & {
            [key: string]: unknown;
        };
        EmbeddingResponse: {
            /** @constant */
            object: "list";
            data: ({
                /** @constant */
                object: "embedding";
                index: number;
                embedding: number[] | string;
            } & {
                [key: string]: unknown;
            })[];
            model: string;
            usage: {
                prompt_tokens: number;
                total_tokens: number;
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        ImageGenRequest: {
            prompt: string;
            model?: string | null;
            n?: number | null;
            size?: (("256x256" | "512x512" | "1024x1024" | "1024x1792" | "1792x1024") | ("1536x1024" | "1024x1536" | "auto")) | null;
            quality?: (("standard" | "hd") | ("low" | "medium" | "high" | "auto")) | null;
            style?: ("natural" | "vivid") | null;
            response_format?: ("url" | "b64_json") | null;
            provider?: string | null;
        } & {
            [key: string]: unknown;
        };
        ImageResponse: {
            created: number;
            data: ({
                url?: string;
                b64_json?: string;
                revised_prompt?: string;
            } & {
                [key: string]: unknown;
            })[];
        } & {
            [key: string]: unknown;
        };
        SpeechRequest: {
            input: string;
            model: string;
            voice?: string | null;
            response_format?: ("mp3" | "opus" | "aac" | "flac" | "wav") | null;
            speed?: number | null;
            provider?: string | null;
        } & {
            [key: string]: unknown;
        };
        TranscriptionRequest: {
            model: string;
            language?: string;
            prompt?: string;
            /** @enum {string} */
            response_format?: "json" | "text" | "srt" | "vtt";
            provider?: string;
            file: string;
        } & {
            [key: string]: unknown;
        };
        TranscriptionResponse: {
            text: string;
        } & {
            [key: string]: unknown;
        };
        ModelList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["ModelInfo"][];
        };
        ModelInfo: {
            id: string;
            /** @constant */
            object: "model";
            provider: string;
            capabilities: ("chat" | "embeddings" | "images" | "speech" | "transcription" | "tools" | "vision" | "json_schema" | "reasoning")[];
            created: number;
            owned_by: string;
            fidelity?: {
                [key: string]: "kept" | "clamped" | "emulated" | "dropped" | "refused";
            };
            price?: {
                input?: number;
                input_audio?: number;
                input_image?: number;
                cache_read?: number;
                cache_write?: number;
                cache_write_1h?: number;
                output?: number;
                reasoning?: number;
                output_audio?: number;
                output_image?: number;
                characters?: number;
                seconds?: number;
                images?: number;
                tiers?: {
                    input?: number;
                    input_audio?: number;
                    input_image?: number;
                    cache_read?: number;
                    cache_write?: number;
                    cache_write_1h?: number;
                    output?: number;
                    reasoning?: number;
                    output_audio?: number;
                    output_image?: number;
                    characters?: number;
                    seconds?: number;
                    images?: number;
                    above: number;
                }[];
                service_tiers?: {
                    [key: string]: {
                        input?: number;
                        input_audio?: number;
                        input_image?: number;
                        cache_read?: number;
                        cache_write?: number;
                        cache_write_1h?: number;
                        output?: number;
                        reasoning?: number;
                        output_audio?: number;
                        output_image?: number;
                        characters?: number;
                        seconds?: number;
                        images?: number;
                        tiers?: {
                            input?: number;
                            input_audio?: number;
                            input_image?: number;
                            cache_read?: number;
                            cache_write?: number;
                            cache_write_1h?: number;
                            output?: number;
                            reasoning?: number;
                            output_audio?: number;
                            output_image?: number;
                            characters?: number;
                            seconds?: number;
                            images?: number;
                            above: number;
                        }[];
                    };
                };
            };
            context_window?: number;
            max_output_tokens?: number;
            members?: string[];
        } & {
            [key: string]: unknown;
        };
        UsageRecord: {
            session_id: string;
            model: string;
            provider: string;
            tokens: number;
            prompt_tokens: number;
            completion_tokens: number;
            cost_usd: number;
            priced: boolean;
            /** Format: date-time */
            timestamp: string;
            request_id: string;
            key_id: string;
            end_user?: string;
            conversation_id: string;
            task_id: string;
            project_id: string;
            task: string;
            outcome: string;
            /** @enum {string} */
            accuracy: "reported" | "partial" | "estimated";
            service_tier?: string;
            units: {
                [key: string]: number;
            };
            rates: {
                [key: string]: number;
            };
            catalogue: string;
            attempts: number;
            latency_ms: number;
            first_token_ms: number | null;
        };
        UserUsageSummary: {
            user_id: string;
            total_tokens: number;
            total_cost: number;
            records: components["schemas"]["UsageRecord"][];
            next?: string;
        };
        User: {
            id: string;
            name: string;
            email: string | null;
            /** @enum {string} */
            role: "user" | "developer" | "admin";
            budget?: {
                usd: number;
                /** @enum {string} */
                per?: "day" | "month";
            };
            created_at: string;
        };
        UserList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["User"][];
            next?: string;
        };
        NewUser: {
            id?: string | null;
            name?: string | null;
            email?: string | null;
            role?: ("user" | "developer" | "admin") | null;
            budget?: {
                usd: number;
                per?: ("day" | "month") | null;
            } | null;
        };
        GatewayInfo: {
            name: string;
            version: string;
            description: string;
            endpoints: {
                [key: string]: string;
            };
        };
        HealthResponse: {
            /** @enum {string} */
            status: "ok" | "draining" | "unavailable";
            version: string;
            simulated: boolean;
        };
        ProviderHealth: {
            id: string;
            /** @enum {string} */
            status: "healthy" | "unhealthy";
            failures: number;
            last_failure: string | null;
            next_try: string | null;
        };
        ProvidersHealth: {
            /** @enum {string} */
            status: "ok" | "degraded" | "unavailable";
            providers: components["schemas"]["ProviderHealth"][];
        };
        ProviderMetrics: {
            id: string;
            requests: number;
            errors: {
                [key: string]: number;
            };
            refused: number;
            error_rate: number;
            latency_ms: {
                p50: number | null;
                p95: number | null;
                p99: number | null;
            };
            first_token_ms: {
                p50: number | null;
                p95: number | null;
                p99: number | null;
            };
            prompt_tokens: number;
            completion_tokens: number;
            cost_usd: number;
            unpriced: number;
        };
        MetricsResponse: {
            from: string;
            hours: number;
            total: {
                requests: number;
                errors: {
                    [key: string]: number;
                };
                refused: number;
                error_rate: number;
                latency_ms: {
                    p50: number | null;
                    p95: number | null;
                    p99: number | null;
                };
                first_token_ms: {
                    p50: number | null;
                    p95: number | null;
                    p99: number | null;
                };
                prompt_tokens: number;
                completion_tokens: number;
                cost_usd: number;
                unpriced: number;
            };
            ended?: {
                requests: number;
                refused: number;
                failed: number;
                left: number;
                codes: {
                    [key: string]: number;
                };
            };
            providers: components["schemas"]["ProviderMetrics"][];
            series: {
                time: string;
                requests: number;
                errors: {
                    [key: string]: number;
                };
                refused: number;
                error_rate: number;
                latency_ms: {
                    p50: number | null;
                    p95: number | null;
                    p99: number | null;
                };
                first_token_ms: {
                    p50: number | null;
                    p95: number | null;
                    p99: number | null;
                };
                prompt_tokens: number;
                completion_tokens: number;
                cost_usd: number;
                unpriced: number;
                by_provider: {
                    [key: string]: number;
                };
                ended?: {
                    requests: number;
                    refused: number;
                    failed: number;
                    left: number;
                    codes: {
                        [key: string]: number;
                    };
                };
            }[];
            warnings: string[];
        };
        ConfiguredProviders: {
            providers: {
                id: string;
                /** @enum {string} */
                breaker: "closed" | "open" | "half-open";
                failures: number;
                last_failure: string | null;
                next_try: string | null;
                /** @enum {string} */
                status: "healthy" | "unhealthy" | "disabled" | "broken";
                tasks: ("chat" | "embeddings" | "images" | "speech" | "transcription")[];
                models: number;
                learnt?: {
                    model: string;
                    field: string;
                    until: string;
                }[];
                /** @enum {string} */
                source?: "file" | "environment" | "program" | "store";
                type?: string;
                weight?: number;
                requests_per_minute?: number;
                tokens_per_minute?: number;
                entry?: string;
                settings?: {
                    [key: string]: unknown;
                };
                has_key?: boolean;
                key_end?: string;
                fault?: string;
            }[];
        };
        ProviderProbe: {
            id: string;
            ok: boolean;
            duration_ms: number;
            failure: string | null;
            status: number | null;
        };
        PricingResponse: {
            version: string;
            source: string;
            since: string;
            models: {
                id: string;
                provider: string;
                priced: boolean;
                input: number | null;
                output: number | null;
                cache_read: number | null;
                cache_write: number | null;
                other: {
                    [key: string]: number;
                };
                tiers: {
                    above: number;
                    input: number | null;
                    output: number | null;
                    cache_read: number | null;
                    cache_write: number | null;
                    other: {
                        [key: string]: number;
                    };
                }[];
                source: string | null;
                since: string | null;
            }[];
        };
        UsersSummary: {
            users: number;
            requests: number;
            unpriced: number;
            prompt_tokens: number;
            completion_tokens: number;
            tokens: number;
            cost_usd: number;
            data: {
                id: string;
                name: string;
                email: string | null;
                /** @enum {string} */
                role: "user" | "developer" | "admin";
                created_at: string;
                requests: number;
                unpriced: number;
                prompt_tokens: number;
                completion_tokens: number;
                tokens: number;
                cost_usd: number;
                last_used_at: string | null;
            }[];
            next?: string;
        };
        BalancerResponse: {
            providers: {
                id: string;
                /** @enum {string} */
                breaker: "closed" | "open" | "half-open";
                failures: number;
                last_failure: string | null;
                next_try: string | null;
                limited: {
                    model: string;
                    until: string;
                }[];
            }[];
            groups: {
                [key: string]: string[];
            };
            choices: {
                time: string;
                request_id: string | null;
                model: string;
                provider: string | null;
                /** @enum {string} */
                by: "price" | "order";
                order: {
                    provider: string;
                    model: string;
                    expected_usd: number | null;
                    excluded: ("unfit" | "context" | "output" | "forbidden") | null;
                    behind: ("unhealthy" | "limited") | null;
                }[];
                served: {
                    provider: string;
                    model: string;
                } | null;
                attempts: number;
            }[];
        };
        SimulatedChoice: {
            model: string;
            provider: string | null;
            /** @enum {string} */
            by: "price" | "order";
            order: {
                provider: string;
                model: string;
                expected_usd: number | null;
                excluded: ("unfit" | "context" | "output" | "forbidden") | null;
                behind: ("unhealthy" | "limited") | null;
            }[];
        };
        UsageTable: {
            /** @enum {string} */
            by: "user" | "key" | "model" | "provider" | "session" | "project";
            hours: number | null;
            from: string | null;
            data: {
                id: string;
                name: string | null;
                user_id: string | null;
                requests: number;
                unpriced: number;
                prompt_tokens: number;
                completion_tokens: number;
                tokens: number;
                cost_usd: number;
            }[];
            next?: string;
        };
        UsageSeries: {
            /** @enum {string} */
            by: "user" | "key" | "model" | "provider";
            id: string | null;
            name: string | null;
            hours: number;
            from: string;
            total: {
                requests: number;
                unpriced: number;
                prompt_tokens: number;
                completion_tokens: number;
                tokens: number;
                cost_usd: number;
            };
            series: {
                time: string;
                requests: number;
                tokens: number;
                cost_usd: number;
            }[];
        };
        KeyList: {
            data: {
                id: string;
                name: string;
                user_id: string;
                user: string | null;
                rate_limit: number;
                token_limit?: number;
                revoked: boolean;
                /** @constant */
                suspended?: true;
                expires_at?: string;
                rotated_at?: string;
                models?: string[];
                budget?: {
                    usd: number;
                    /** @enum {string} */
                    per?: "day" | "month";
                };
                budget_used_usd?: number;
                end_users?: {
                    /** @constant */
                    required?: true;
                    budget?: {
                        usd: number;
                        /** @enum {string} */
                        per?: "day" | "month";
                    };
                    rate_limit?: number;
                };
                key_end?: string;
                created_at: string;
                last_used_at: string | null;
            }[];
            next?: string;
        };
        AuditLog: {
            data: {
                id: string;
                actor: string;
                action: string;
                target: string;
                timestamp: string;
                detail?: string;
            }[];
            next?: string;
        };
        FailedRequests: {
            data: components["schemas"]["RequestEvent"][];
            next?: string;
        };
        RequestEvent: {
            request_id: string;
            time: string;
            method: string;
            route: string;
            status: number;
            duration_ms: number;
            key_id?: string;
            user_id?: string;
            project_id?: string;
            task?: string;
            requested_model?: string;
            provider?: string;
            model?: string;
            stream?: boolean;
            outcome?: string;
            error_type?: string;
            error_code?: string;
            error_field?: string;
            attempts?: number;
            failed_calls?: string;
            calls_ms?: string;
            prompt_tokens?: number;
            completion_tokens?: number;
            cost_usd?: number;
            unpriced?: boolean;
            first_token_ms?: number;
        };
        Error: {
            error: {
                type: string;
                message: string;
                code: string;
            };
        };
    };
    responses: {
        /** @description Invalid request body or parameters. */
        Error400: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request body stood still. */
        Error408: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request body is too large. */
        Error413: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Gateway unavailable. */
        Error503: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                /** @description Seconds to wait before retrying. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The caller lacks permission for the resource. */
        Error403: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Upstream provider error. */
        Error502: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Internal server error. */
        Error500: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Missing or invalid bearer token. */
        Error401: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Rate limit exceeded. */
        Error429: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                /** @description Seconds to wait before retrying. */
                "Retry-After": number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Resource not found. */
        Error404: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The stored bytes are not those that the request demands. */
        Error412: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The range begins after the last byte. */
        Error416: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The id of the request; quote it in error reports. */
        "X-Request-ID": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "chat.completions": {
        parameters: {
            query?: never;
            header?: {
                /** @description Groups requests into a session; a UUID. */
                "X-Session-ID"?: string;
                /** @description Tags the request with a conversation; a UUID. */
                "X-Conversation-ID"?: string;
                /** @description Tags the request with a task; a UUID. */
                "X-Task-ID"?: string;
                /** @description Tags the request with a project; a UUID. */
                "X-Project-ID"?: string;
                /** @description `true` asks who answered and what it cost. */
                "X-Gateway-Explain"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "gpt-4o-mini",
                 *       "messages": [
                 *         {
                 *           "role": "user",
                 *           "content": "Hello!"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ChatCompletionRequest"];
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    /** @description Fields that did not reach the provider as they were given. */
                    "X-Gateway-Warnings"?: string;
                    /** @description Where asked for: the provider that answered. */
                    "X-Gateway-Provider"?: string;
                    /** @description Where asked for: calls of providers that it took. */
                    "X-Gateway-Attempts"?: string;
                    /** @description Where asked for: the providers that were compared. */
                    "X-Gateway-Considered"?: string;
                    /** @description Where the fallback of a group answered: what one of its members had refused, `length` (the prompt's) or `content`. */
                    "X-Gateway-Fallback"?: string;
                    /** @description Where asked for: US dollars. */
                    "X-Gateway-Cost"?: string;
                    /** @description The guard that answered in place of a provider, for nothing. */
                    "X-Gateway-Answered-By"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatCompletionResponse"];
                    "text/event-stream": components["schemas"]["ChatCompletionChunk"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            408: components["responses"]["Error408"];
            413: components["responses"]["Error413"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    embeddings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Groups requests into a session; a UUID. */
                "X-Session-ID"?: string;
                /** @description Tags the request with a conversation; a UUID. */
                "X-Conversation-ID"?: string;
                /** @description Tags the request with a task; a UUID. */
                "X-Task-ID"?: string;
                /** @description Tags the request with a project; a UUID. */
                "X-Project-ID"?: string;
                /** @description `true` asks who answered and what it cost. */
                "X-Gateway-Explain"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "text-embedding-3-small",
                 *       "input": "Hello!"
                 *     }
                 */
                "application/json": components["schemas"]["EmbeddingRequest"];
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    /** @description Fields that did not reach the provider as they were given. */
                    "X-Gateway-Warnings"?: string;
                    /** @description Where asked for: the provider that answered. */
                    "X-Gateway-Provider"?: string;
                    /** @description Where asked for: calls of providers that it took. */
                    "X-Gateway-Attempts"?: string;
                    /** @description Where asked for: the providers that were compared. */
                    "X-Gateway-Considered"?: string;
                    /** @description Where the fallback of a group answered: what one of its members had refused, `length` (the prompt's) or `content`. */
                    "X-Gateway-Fallback"?: string;
                    /** @description Where asked for: US dollars. */
                    "X-Gateway-Cost"?: string;
                    /** @description The guard that answered in place of a provider, for nothing. */
                    "X-Gateway-Answered-By"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmbeddingResponse"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            408: components["responses"]["Error408"];
            413: components["responses"]["Error413"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    "images.generations": {
        parameters: {
            query?: never;
            header?: {
                /** @description Groups requests into a session; a UUID. */
                "X-Session-ID"?: string;
                /** @description Tags the request with a conversation; a UUID. */
                "X-Conversation-ID"?: string;
                /** @description Tags the request with a task; a UUID. */
                "X-Task-ID"?: string;
                /** @description Tags the request with a project; a UUID. */
                "X-Project-ID"?: string;
                /** @description `true` asks who answered and what it cost. */
                "X-Gateway-Explain"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "gpt-image-2",
                 *       "prompt": "A toll gate at dawn"
                 *     }
                 */
                "application/json": components["schemas"]["ImageGenRequest"];
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    /** @description Fields that did not reach the provider as they were given. */
                    "X-Gateway-Warnings"?: string;
                    /** @description Where asked for: the provider that answered. */
                    "X-Gateway-Provider"?: string;
                    /** @description Where asked for: calls of providers that it took. */
                    "X-Gateway-Attempts"?: string;
                    /** @description Where asked for: the providers that were compared. */
                    "X-Gateway-Considered"?: string;
                    /** @description Where the fallback of a group answered: what one of its members had refused, `length` (the prompt's) or `content`. */
                    "X-Gateway-Fallback"?: string;
                    /** @description Where asked for: US dollars. */
                    "X-Gateway-Cost"?: string;
                    /** @description The guard that answered in place of a provider, for nothing. */
                    "X-Gateway-Answered-By"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageResponse"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            408: components["responses"]["Error408"];
            413: components["responses"]["Error413"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    "audio.speech": {
        parameters: {
            query?: never;
            header?: {
                /** @description Groups requests into a session; a UUID. */
                "X-Session-ID"?: string;
                /** @description Tags the request with a conversation; a UUID. */
                "X-Conversation-ID"?: string;
                /** @description Tags the request with a task; a UUID. */
                "X-Task-ID"?: string;
                /** @description Tags the request with a project; a UUID. */
                "X-Project-ID"?: string;
                /** @description `true` asks who answered and what it cost. */
                "X-Gateway-Explain"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "tts-1",
                 *       "input": "Hello!",
                 *       "voice": "alloy"
                 *     }
                 */
                "application/json": components["schemas"]["SpeechRequest"];
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    /** @description Fields that did not reach the provider as they were given. */
                    "X-Gateway-Warnings"?: string;
                    /** @description Where asked for: the provider that answered. */
                    "X-Gateway-Provider"?: string;
                    /** @description Where asked for: calls of providers that it took. */
                    "X-Gateway-Attempts"?: string;
                    /** @description Where asked for: the providers that were compared. */
                    "X-Gateway-Considered"?: string;
                    /** @description Where the fallback of a group answered: what one of its members had refused, `length` (the prompt's) or `content`. */
                    "X-Gateway-Fallback"?: string;
                    /** @description Where asked for: US dollars. */
                    "X-Gateway-Cost"?: string;
                    /** @description The guard that answered in place of a provider, for nothing. */
                    "X-Gateway-Answered-By"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "audio/mpeg": unknown;
                    "audio/ogg": unknown;
                    "audio/aac": unknown;
                    "audio/flac": unknown;
                    "audio/wav": unknown;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            408: components["responses"]["Error408"];
            413: components["responses"]["Error413"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    "audio.transcriptions": {
        parameters: {
            query?: never;
            header?: {
                /** @description Groups requests into a session; a UUID. */
                "X-Session-ID"?: string;
                /** @description Tags the request with a conversation; a UUID. */
                "X-Conversation-ID"?: string;
                /** @description Tags the request with a task; a UUID. */
                "X-Task-ID"?: string;
                /** @description Tags the request with a project; a UUID. */
                "X-Project-ID"?: string;
                /** @description `true` asks who answered and what it cost. */
                "X-Gateway-Explain"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "whisper-1"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["TranscriptionRequest"];
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    /** @description Fields that did not reach the provider as they were given. */
                    "X-Gateway-Warnings"?: string;
                    /** @description Where asked for: the provider that answered. */
                    "X-Gateway-Provider"?: string;
                    /** @description Where asked for: calls of providers that it took. */
                    "X-Gateway-Attempts"?: string;
                    /** @description Where asked for: the providers that were compared. */
                    "X-Gateway-Considered"?: string;
                    /** @description Where the fallback of a group answered: what one of its members had refused, `length` (the prompt's) or `content`. */
                    "X-Gateway-Fallback"?: string;
                    /** @description Where asked for: US dollars. */
                    "X-Gateway-Cost"?: string;
                    /** @description The guard that answered in place of a provider, for nothing. */
                    "X-Gateway-Answered-By"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TranscriptionResponse"];
                    "text/plain": string;
                    "application/x-subrip": unknown;
                    "text/vtt": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            408: components["responses"]["Error408"];
            413: components["responses"]["Error413"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    "models.list": {
        parameters: {
            query?: {
                provider?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelList"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    "models.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                model: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelInfo"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
}
