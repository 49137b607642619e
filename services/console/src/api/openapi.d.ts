export interface paths {
  "/api/v1/system": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": {
              /** @enum {string} */
              service: "map-asset-gateway";
              version: string;
              api_base_url: string;
              tile_base_url: string;
              vector_base_url: string;
              basemap_roots: string[];
              vector_roots: string[];
              slice_output_root: string;
              slice_source_roots: string[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/session": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Session"];
          };
        };
      };
    };
    delete: {
      responses: {
        200: {
          content: {
            "application/json": {
              ended: boolean;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/basemaps/bulk": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            /** @enum {string} */
            action: "withdraw" | "restore";
            ids?: string[];
            filter?: {
              q?: string;
              source_code?: string;
              /** @enum {string} */
              available?: "true" | "false";
              /** @enum {string} */
              withdrawn?: "true" | "false";
              /** @enum {string} */
              source_enabled?: "true" | "false";
              owner?: string;
              tag?: string;
            };
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              matched: number;
              done: number;
              failed: {
                id: string;
                code: string;
                error: string;
                details: {
                  code: string;
                  params: {
                    [key: string]: string | number;
                  };
                }[];
              }[];
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/vectors/bulk": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            /** @enum {string} */
            action: "withdraw" | "restore";
            ids?: string[];
            filter?: {
              q?: string;
              /** @enum {string} */
              kind?: "geojson" | "shapefile" | "geopackage" | "flatgeobuf" | "geojson_sequence" | "zipped_shapefile" | "kml" | "kmz" | "gml" | "csv" | "gpx" | "dxf" | "zipped_geodatabase" | "postgis" | "postgis-function";
              /** @enum {string} */
              tiles_status?: "none" | "building" | "ready" | "failed";
              source_code?: string;
              /** @enum {string} */
              available?: "true" | "false";
              /** @enum {string} */
              withdrawn?: "true" | "false";
              /** @enum {string} */
              source_enabled?: "true" | "false";
              /** Format: uuid */
              scan?: string;
            };
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              matched: number;
              done: number;
              failed: {
                id: string;
                code: string;
                error: string;
                details: {
                  code: string;
                  params: {
                    [key: string]: string | number;
                  };
                }[];
              }[];
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/basemaps": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "code" | "-code" | "name" | "-name" | "owner" | "-owner" | "source_code" | "-source_code" | "created_at" | "-created_at" | "updated_at" | "-updated_at" | "withdrawn" | "-withdrawn" | "versions" | "-versions";
          limit?: number;
          offset?: number;
          source_code?: string;
          available?: "true" | "false";
          withdrawn?: "true" | "false";
          source_enabled?: "true" | "false";
          owner?: string;
          tag?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                code: string;
                name: string;
                default_version: string | null;
                versions: {
                  version: string;
                  /** @enum {string} */
                  storage: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
                  /** @enum {string} */
                  format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                  formats?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt")[];
                  tile_size: number;
                  min_zoom: number;
                  max_zoom: number;
                  bounds: [
                    number,
                    number,
                    number,
                    number
                  ] | null;
                  tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                  crs: string;
                  coordinate_offset: "gcj02" | null;
                  revision: number;
                  available: boolean;
                  /** Format: date-time */
                  scanned_at: string;
                  path: string;
                  withdrawn: boolean;
                  held: boolean;
                  rejected_reason: string | null;
                  overrides: {
                    /** @enum {string} */
                    storage?: "xyz" | "tms";
                    /** @enum {string} */
                    tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
                    /** @enum {string} */
                    format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                    bounds?: [
                      number,
                      number,
                      number,
                      number
                    ];
                    min_zoom?: number;
                    max_zoom?: number;
                    name?: string;
                    attribution?: string;
                    /** @enum {string} */
                    coordinate_offset?: "gcj02";
                  };
                  scanned: {
                    storage: ("xyz" | "tms") | null;
                    tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                    /** @enum {string} */
                    format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                    bounds: [
                      number,
                      number,
                      number,
                      number
                    ] | null;
                    min_zoom: number;
                    max_zoom: number;
                    name: string | null;
                    attribution: string | null;
                    coordinate_offset: "gcj02" | null;
                  };
                }[];
                url_template: string;
                source_code: string;
                /** Format: date-time */
                created_at: string;
                /** Format: date-time */
                updated_at: string;
                upstream?: {
                  /** @enum {string} */
                  state: "open" | "closed";
                  failures: number;
                  message: string;
                };
                withdrawn: boolean;
                source_enabled: boolean;
                /** @enum {string} */
                cache_policy: "interface" | "private" | "shared";
                s_maxage: number | null;
                scanned_name: string;
                description: string | null;
                tags: string[];
                owner: string | null;
                requests_per_day: number;
              }[];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/versions": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "basemap_code" | "-basemap_code" | "version" | "-version" | "storage" | "-storage" | "format" | "-format" | "tile_size" | "-tile_size" | "min_zoom" | "-min_zoom" | "max_zoom" | "-max_zoom" | "revision" | "-revision" | "scanned_at" | "-scanned_at" | "available" | "-available" | "withdrawn" | "-withdrawn";
          limit?: number;
          offset?: number;
          basemap_code?: string;
          source_code?: string;
          storage?: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
          format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
          available?: "true" | "false";
          withdrawn?: "true" | "false";
          held?: "true" | "false";
          source_enabled?: "true" | "false";
          scan?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                version: string;
                /** @enum {string} */
                storage: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
                /** @enum {string} */
                format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                formats?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt")[];
                tile_size: number;
                min_zoom: number;
                max_zoom: number;
                bounds: [
                  number,
                  number,
                  number,
                  number
                ] | null;
                tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                crs: string;
                coordinate_offset: "gcj02" | null;
                revision: number;
                available: boolean;
                /** Format: date-time */
                scanned_at: string;
                path: string;
                withdrawn: boolean;
                held: boolean;
                rejected_reason: string | null;
                overrides: {
                  /** @enum {string} */
                  storage?: "xyz" | "tms";
                  /** @enum {string} */
                  tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
                  /** @enum {string} */
                  format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                  bounds?: [
                    number,
                    number,
                    number,
                    number
                  ];
                  min_zoom?: number;
                  max_zoom?: number;
                  name?: string;
                  attribution?: string;
                  /** @enum {string} */
                  coordinate_offset?: "gcj02";
                };
                scanned: {
                  storage: ("xyz" | "tms") | null;
                  tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                  /** @enum {string} */
                  format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                  bounds: [
                    number,
                    number,
                    number,
                    number
                  ] | null;
                  min_zoom: number;
                  max_zoom: number;
                  name: string | null;
                  attribution: string | null;
                  coordinate_offset: "gcj02" | null;
                };
                basemap_code: string;
              }[];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/vectors": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "code" | "-code" | "name" | "-name" | "kind" | "-kind" | "relative_path" | "-relative_path" | "file_name" | "-file_name" | "size" | "-size" | "modified_at" | "-modified_at" | "source_code" | "-source_code" | "available" | "-available" | "withdrawn" | "-withdrawn";
          limit?: number;
          offset?: number;
          kind?: "geojson" | "shapefile" | "geopackage" | "flatgeobuf" | "geojson_sequence" | "zipped_shapefile" | "kml" | "kmz" | "gml" | "csv" | "gpx" | "dxf" | "zipped_geodatabase" | "postgis" | "postgis-function";
          tiles_status?: "none" | "building" | "ready" | "failed";
          source_code?: string;
          available?: "true" | "false";
          withdrawn?: "true" | "false";
          source_enabled?: "true" | "false";
          scan?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["AdminVector"][];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/basemaps/{code}": {
    get: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AdminBasemap"];
          };
        };
      };
    };
    delete: {
      parameters: {
        query?: {
          files?: "true" | "false";
        };
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
              files: number;
            };
          };
        };
      };
    };
    patch: {
      parameters: {
        path: {
          code: string;
        };
      };
      requestBody: {
        content: {
          "application/json": {
            withdrawn?: boolean;
            /** @enum {string} */
            cache_policy?: "interface" | "private" | "shared";
            s_maxage?: number;
            name?: string | null;
            description?: string | null;
            tags?: string[];
            owner?: string | null;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              code: string;
              name: string;
              default_version: string | null;
              versions: {
                version: string;
                /** @enum {string} */
                storage: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
                /** @enum {string} */
                format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                formats?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt")[];
                tile_size: number;
                min_zoom: number;
                max_zoom: number;
                bounds: [
                  number,
                  number,
                  number,
                  number
                ] | null;
                tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                crs: string;
                coordinate_offset: "gcj02" | null;
                revision: number;
                available: boolean;
                /** Format: date-time */
                scanned_at: string;
                path: string;
                withdrawn: boolean;
                held: boolean;
                rejected_reason: string | null;
                overrides: {
                  /** @enum {string} */
                  storage?: "xyz" | "tms";
                  /** @enum {string} */
                  tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
                  /** @enum {string} */
                  format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                  bounds?: [
                    number,
                    number,
                    number,
                    number
                  ];
                  min_zoom?: number;
                  max_zoom?: number;
                  name?: string;
                  attribution?: string;
                  /** @enum {string} */
                  coordinate_offset?: "gcj02";
                };
                scanned: {
                  storage: ("xyz" | "tms") | null;
                  tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                  /** @enum {string} */
                  format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                  bounds: [
                    number,
                    number,
                    number,
                    number
                  ] | null;
                  min_zoom: number;
                  max_zoom: number;
                  name: string | null;
                  attribution: string | null;
                  coordinate_offset: "gcj02" | null;
                };
              }[];
              url_template: string;
              source_code: string;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              upstream?: {
                /** @enum {string} */
                state: "open" | "closed";
                failures: number;
                message: string;
              };
              withdrawn: boolean;
              source_enabled: boolean;
              /** @enum {string} */
              cache_policy: "interface" | "private" | "shared";
              s_maxage: number | null;
              scanned_name: string;
              description: string | null;
              tags: string[];
              owner: string | null;
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/basemaps/{code}/versions": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "version" | "-version" | "storage" | "-storage" | "format" | "-format" | "tile_size" | "-tile_size" | "min_zoom" | "-min_zoom" | "max_zoom" | "-max_zoom" | "revision" | "-revision" | "scanned_at" | "-scanned_at" | "available" | "-available" | "withdrawn" | "-withdrawn";
          limit?: number;
          offset?: number;
          storage?: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
          format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
          available?: "true" | "false";
          withdrawn?: "true" | "false";
          held?: "true" | "false";
        };
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                version: string;
                /** @enum {string} */
                storage: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
                /** @enum {string} */
                format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                formats?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt")[];
                tile_size: number;
                min_zoom: number;
                max_zoom: number;
                bounds: [
                  number,
                  number,
                  number,
                  number
                ] | null;
                tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                crs: string;
                coordinate_offset: "gcj02" | null;
                revision: number;
                available: boolean;
                /** Format: date-time */
                scanned_at: string;
                path: string;
                withdrawn: boolean;
                held: boolean;
                rejected_reason: string | null;
                overrides: {
                  /** @enum {string} */
                  storage?: "xyz" | "tms";
                  /** @enum {string} */
                  tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
                  /** @enum {string} */
                  format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                  bounds?: [
                    number,
                    number,
                    number,
                    number
                  ];
                  min_zoom?: number;
                  max_zoom?: number;
                  name?: string;
                  attribution?: string;
                  /** @enum {string} */
                  coordinate_offset?: "gcj02";
                };
                scanned: {
                  storage: ("xyz" | "tms") | null;
                  tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                  /** @enum {string} */
                  format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                  bounds: [
                    number,
                    number,
                    number,
                    number
                  ] | null;
                  min_zoom: number;
                  max_zoom: number;
                  name: string | null;
                  attribution: string | null;
                  coordinate_offset: "gcj02" | null;
                };
              }[];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/basemaps/{code}/versions/{version}": {
    get: {
      parameters: {
        path: {
          code: string;
          version: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              version: string;
              /** @enum {string} */
              storage: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
              /** @enum {string} */
              format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
              formats?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt")[];
              tile_size: number;
              min_zoom: number;
              max_zoom: number;
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
              crs: string;
              coordinate_offset: "gcj02" | null;
              revision: number;
              available: boolean;
              /** Format: date-time */
              scanned_at: string;
              path: string;
              withdrawn: boolean;
              held: boolean;
              rejected_reason: string | null;
              overrides: {
                /** @enum {string} */
                storage?: "xyz" | "tms";
                /** @enum {string} */
                tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
                /** @enum {string} */
                format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                bounds?: [
                  number,
                  number,
                  number,
                  number
                ];
                min_zoom?: number;
                max_zoom?: number;
                name?: string;
                attribution?: string;
                /** @enum {string} */
                coordinate_offset?: "gcj02";
              };
              scanned: {
                storage: ("xyz" | "tms") | null;
                tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                /** @enum {string} */
                format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                bounds: [
                  number,
                  number,
                  number,
                  number
                ] | null;
                min_zoom: number;
                max_zoom: number;
                name: string | null;
                attribution: string | null;
                coordinate_offset: "gcj02" | null;
              };
            };
          };
        };
      };
    };
    delete: {
      parameters: {
        query?: {
          files?: "true" | "false";
        };
        path: {
          code: string;
          version: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
              files: number;
            };
          };
        };
      };
    };
    patch: {
      parameters: {
        path: {
          code: string;
          version: string;
        };
      };
      requestBody: {
        content: {
          "application/json": {
            withdrawn?: boolean;
            storage?: ("xyz" | "tms") | null;
            tile_matrix_set?: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | null;
            format?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt") | null;
            bounds?: [
              number,
              number,
              number,
              number
            ] | null;
            min_zoom?: number | null;
            max_zoom?: number | null;
            name?: string | null;
            attribution?: string | null;
            coordinate_offset?: "gcj02" | null;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              version: string;
              /** @enum {string} */
              storage: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
              /** @enum {string} */
              format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
              formats?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt")[];
              tile_size: number;
              min_zoom: number;
              max_zoom: number;
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
              crs: string;
              coordinate_offset: "gcj02" | null;
              revision: number;
              available: boolean;
              /** Format: date-time */
              scanned_at: string;
              path: string;
              withdrawn: boolean;
              held: boolean;
              rejected_reason: string | null;
              overrides: {
                /** @enum {string} */
                storage?: "xyz" | "tms";
                /** @enum {string} */
                tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
                /** @enum {string} */
                format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                bounds?: [
                  number,
                  number,
                  number,
                  number
                ];
                min_zoom?: number;
                max_zoom?: number;
                name?: string;
                attribution?: string;
                /** @enum {string} */
                coordinate_offset?: "gcj02";
              };
              scanned: {
                storage: ("xyz" | "tms") | null;
                tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                /** @enum {string} */
                format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                bounds: [
                  number,
                  number,
                  number,
                  number
                ] | null;
                min_zoom: number;
                max_zoom: number;
                name: string | null;
                attribution: string | null;
                coordinate_offset: "gcj02" | null;
              };
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/vectors/{code}": {
    get: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AdminVector"];
          };
        };
      };
    };
    delete: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
              files: number;
            };
          };
        };
      };
    };
    patch: {
      parameters: {
        path: {
          code: string;
        };
      };
      requestBody: {
        content: {
          "application/json": {
            withdrawn?: boolean;
            encoding?: string;
            tile_min_zoom?: number | null;
            tile_max_zoom?: number | null;
            tile_fields?: string[] | null;
            tiles?: boolean;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              code: string;
              name: string;
              /** @enum {string} */
              kind: "geojson" | "shapefile" | "geopackage" | "flatgeobuf" | "geojson_sequence" | "zipped_shapefile" | "kml" | "kmz" | "gml" | "csv" | "gpx" | "dxf" | "zipped_geodatabase" | "postgis" | "postgis-function";
              relative_path: string;
              file_name: string;
              size: number;
              /** Format: date-time */
              modified_at: string;
              available: boolean;
              source_code: string;
              download_url: string;
              revision: number;
              tiles: {
                /** @enum {string} */
                status: "none" | "building" | "ready" | "failed";
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                min_zoom: number | null;
                max_zoom: number | null;
                built_at: string | null;
                left_out: {
                  [key: string]: number;
                };
              };
              crs: string | null;
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              geometry_type: ("Point" | "MultiPoint" | "LineString" | "MultiLineString" | "Polygon" | "MultiPolygon" | "GeometryCollection" | "MultiPatch" | "Geometry") | null;
              feature_count: number | null;
              fields: {
                name: string;
                /** @enum {string} */
                type: "string" | "number" | "boolean" | "date" | "json";
              }[] | null;
              encoding: string | null;
              encoding_source: ("format" | "cpg" | "table" | "operator") | null;
              path: string;
              tile_min_zoom: number | null;
              tile_max_zoom: number | null;
              tile_fields: string[] | null;
              withdrawn: boolean;
              source_enabled: boolean;
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/basemaps/{code}/comparison": {
    get: {
      parameters: {
        query: {
          left: string;
          right: string;
          zoom_min?: number;
          zoom_max?: number;
        };
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              left: string;
              right: string;
              complete: boolean;
              zooms: {
                zoom: number;
                addresses: number;
                step: number;
                compared: number;
                same: number;
                different: [
                  number,
                  number
                ][];
                only_left: [
                  number,
                  number
                ][];
                only_right: [
                  number,
                  number
                ][];
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/scan-sources": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "code" | "-code" | "name" | "-name" | "kind" | "-kind" | "path" | "-path" | "enabled" | "-enabled" | "last_scan" | "-last_scan";
          limit?: number;
          offset?: number;
          kind?: "basemap" | "vector" | "style" | "service" | "postgis";
          enabled?: "true" | "false";
          status?: "running" | "succeeded" | "failed";
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["ScanSource"][];
              total: number;
            };
          };
        };
      };
    };
    post: {
      requestBody: {
        content: {
          "application/json": {
            code: string;
            /** @enum {string} */
            kind: "basemap" | "vector" | "style" | "service" | "postgis";
            path?: string;
            has_password?: unknown;
            has_headers?: unknown;
            name?: string;
            enabled?: boolean;
            /** @enum {string} */
            publish?: "automatic" | "approval";
            schedule?: ({
              every_seconds: number;
            } | {
              cron: string;
              time_zone?: string;
            }) | null;
            watch?: boolean;
            next_scan_at?: unknown;
            watch_problem?: unknown;
            last_scan?: unknown;
            queued_at?: unknown;
            url?: string;
            headers?: {
              [key: string]: string;
            };
            schemas?: string[];
            tables?: string[];
            functions?: string[];
            options?: {
              ttl_seconds?: number;
              statement_timeout_seconds?: number;
              srid?: number;
              id_column?: string;
              /** @description the columns that are published; default: all */
              properties?: string[];
              pool?: number;
              tables?: {
                [key: string]: {
                  ttl_seconds?: number;
                  statement_timeout_seconds?: number;
                  srid?: number;
                  id_column?: string;
                  /** @description the columns that are published; default: all */
                  properties?: string[];
                };
              };
            } | {
              ttl_seconds?: number;
              /** @enum {string} */
              format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
              min_zoom?: number;
              max_zoom?: number;
              tile_size?: 256 | 512;
              max_concurrent?: number;
              timeout_seconds?: number;
              meta_tiles?: number;
              stale_days?: number;
              subdomains?: string[];
            };
            layers?: (string | {
              name: string;
              code?: string;
            })[];
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              code: string;
              name: string;
              /** @enum {string} */
              kind: "basemap" | "vector" | "style" | "service" | "postgis";
              path: string;
              has_password?: boolean;
              has_headers?: boolean;
              schemas?: string[];
              tables?: string[];
              functions?: string[];
              options?: {
                ttl_seconds?: number;
                statement_timeout_seconds?: number;
                srid?: number;
                id_column?: string;
                /** @description the columns that are published; default: all */
                properties?: string[];
                pool?: number;
                tables?: {
                  [key: string]: {
                    ttl_seconds?: number;
                    statement_timeout_seconds?: number;
                    srid?: number;
                    id_column?: string;
                    /** @description the columns that are published; default: all */
                    properties?: string[];
                  };
                };
              } | {
                ttl_seconds?: number;
                /** @enum {string} */
                format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                min_zoom?: number;
                max_zoom?: number;
                tile_size?: 256 | 512;
                max_concurrent?: number;
                timeout_seconds?: number;
                meta_tiles?: number;
                stale_days?: number;
                subdomains?: string[];
              };
              layers?: (string | {
                name: string;
                code?: string;
              })[];
              enabled: boolean;
              /** @enum {string} */
              publish: "automatic" | "approval";
              schedule: ({
                every_seconds: number;
              } | {
                cron: string;
                time_zone?: string;
              }) | null;
              next_scan_at: string | null;
              watch: boolean;
              watch_problem: string | null;
              last_scan: components["schemas"]["Scan"] | null;
              queued_at: string | null;
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/scan-sources/{code}": {
    get: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ScanSource"];
          };
        };
      };
    };
    delete: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
              files: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/scan-sources/{code}/storage": {
    get: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              endpoint: string;
              /** @enum {string} */
              state: "answers" | "missing" | "no_credentials" | "refuses" | "no_answer";
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              milliseconds: number;
              queries?: {
                query: string;
                seconds: number;
                waits_for: string | null;
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/scan-sources/{code}/run": {
    post: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              /** @enum {string} */
              status: "running" | "succeeded" | "failed";
              /** @enum {string} */
              reason: "manual" | "schedule" | "watch" | "start";
              changed: string[] | null;
              next_scan_at: string | null;
              /** Format: date-time */
              started_at: string;
              finished_at: string | null;
              added: number;
              updated: number;
              missing: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              warnings: number;
              steps: number;
              cancelled: boolean;
              source_code: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/scan-sources/{code}/queue": {
    post: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        202: {
          content: {
            "application/json": components["schemas"]["ScanSource"];
          };
        };
      };
    };
  };
  "/api/v1/admin/scan-sources/{code}/cancel": {
    post: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ScanSource"];
          };
        };
      };
    };
  };
  "/api/v1/admin/scan-sources/try": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            /** @enum {string} */
            kind: "basemap" | "vector" | "style" | "service" | "postgis";
            path?: string;
            url?: string;
            schemas?: string[];
            tables?: string[];
            functions?: string[];
            options?: {
              ttl_seconds?: number;
              statement_timeout_seconds?: number;
              srid?: number;
              id_column?: string;
              /** @description the columns that are published; default: all */
              properties?: string[];
              pool?: number;
              tables?: {
                [key: string]: {
                  ttl_seconds?: number;
                  statement_timeout_seconds?: number;
                  srid?: number;
                  id_column?: string;
                  /** @description the columns that are published; default: all */
                  properties?: string[];
                };
              };
            } | {
              ttl_seconds?: number;
              /** @enum {string} */
              format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
              min_zoom?: number;
              max_zoom?: number;
              tile_size?: 256 | 512;
              max_concurrent?: number;
              timeout_seconds?: number;
              meta_tiles?: number;
              stale_days?: number;
              subdomains?: string[];
            };
            layers?: (string | {
              name: string;
              code?: string;
            })[];
            headers?: {
              [key: string]: string;
            };
            code?: string;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              added: number;
              updated: number;
              missing: number;
              found: string[];
              lost: string[];
              warnings: number;
              messages: string[];
              coded_messages: {
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
              }[];
              layers?: {
                layer: string;
                code: string;
                name: string | null;
                preview: string | null;
              }[];
              problem: string | null;
              problem_code: string | null;
              problem_params: {
                [key: string]: string | number;
              } | null;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/scan-sources/{code}/scans/{id}/warnings": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "number" | "-number" | "message" | "-message";
          limit?: number;
          offset?: number;
          message_code?: string;
        };
        path: {
          code: string;
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                number: number;
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
              }[];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/scan-sources/{code}/scans": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "started_at" | "-started_at" | "finished_at" | "-finished_at" | "status" | "-status" | "added" | "-added" | "updated" | "-updated" | "missing" | "-missing";
          limit?: number;
          offset?: number;
          status?: "running" | "succeeded" | "failed";
        };
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["Scan"][];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/scan-sources/{code}/scans/{id}": {
    get: {
      parameters: {
        path: {
          code: string;
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Scan"];
          };
        };
      };
    };
  };
  "/api/v1/admin/vectors/rescan": {
    post: {
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                status: "running" | "succeeded" | "failed";
                /** @enum {string} */
                reason: "manual" | "schedule" | "watch" | "start";
                changed: string[] | null;
                next_scan_at: string | null;
                /** Format: date-time */
                started_at: string;
                finished_at: string | null;
                added: number;
                updated: number;
                missing: number;
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                warnings: number;
                steps: number;
                cancelled: boolean;
                source_code: string;
              }[];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/basemaps/{code}/default-version": {
    post: {
      parameters: {
        path: {
          code: string;
        };
      };
      requestBody: {
        content: {
          "application/json": {
            version: string;
            at?: string;
            canary?: {
              percent: number;
              minutes: number;
            };
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              code: string;
              name: string;
              default_version: string | null;
              versions: {
                version: string;
                /** @enum {string} */
                storage: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
                /** @enum {string} */
                format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                formats?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt")[];
                tile_size: number;
                min_zoom: number;
                max_zoom: number;
                bounds: [
                  number,
                  number,
                  number,
                  number
                ] | null;
                tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                crs: string;
                coordinate_offset: "gcj02" | null;
                revision: number;
                available: boolean;
                /** Format: date-time */
                scanned_at: string;
                path: string;
                withdrawn: boolean;
                held: boolean;
                rejected_reason: string | null;
                overrides: {
                  /** @enum {string} */
                  storage?: "xyz" | "tms";
                  /** @enum {string} */
                  tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
                  /** @enum {string} */
                  format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                  bounds?: [
                    number,
                    number,
                    number,
                    number
                  ];
                  min_zoom?: number;
                  max_zoom?: number;
                  name?: string;
                  attribution?: string;
                  /** @enum {string} */
                  coordinate_offset?: "gcj02";
                };
                scanned: {
                  storage: ("xyz" | "tms") | null;
                  tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                  /** @enum {string} */
                  format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                  bounds: [
                    number,
                    number,
                    number,
                    number
                  ] | null;
                  min_zoom: number;
                  max_zoom: number;
                  name: string | null;
                  attribution: string | null;
                  coordinate_offset: "gcj02" | null;
                };
              }[];
              url_template: string;
              source_code: string;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              upstream?: {
                /** @enum {string} */
                state: "open" | "closed";
                failures: number;
                message: string;
              };
              withdrawn: boolean;
              source_enabled: boolean;
              /** @enum {string} */
              cache_policy: "interface" | "private" | "shared";
              s_maxage: number | null;
              scanned_name: string;
              description: string | null;
              tags: string[];
              owner: string | null;
              pending_switch: {
                /** Format: uuid */
                id: string;
                version: string;
                /** Format: date-time */
                at: string;
                /** @enum {string} */
                status: "pending" | "canary" | "done" | "failed" | "cancelled" | "rolled_back";
                canary: {
                  percent: number;
                  minutes: number;
                  started_at: string | null;
                  ends_at: string | null;
                  before_version: string | null;
                  before: {
                    requests: number;
                    missing: number;
                    failed: number;
                  };
                  after: {
                    requests: number;
                    missing: number;
                    failed: number;
                  };
                } | null;
                ended_at: string | null;
                created_by: string;
                /** Format: date-time */
                created_at: string;
              } | null;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/basemaps/{code}/default-switch": {
    get: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              version: string;
              /** Format: date-time */
              at: string;
              /** @enum {string} */
              status: "pending" | "canary" | "done" | "failed" | "cancelled" | "rolled_back";
              canary: {
                percent: number;
                minutes: number;
                started_at: string | null;
                ends_at: string | null;
                before_version: string | null;
                before: {
                  requests: number;
                  missing: number;
                  failed: number;
                };
                after: {
                  requests: number;
                  missing: number;
                  failed: number;
                };
              } | null;
              ended_at: string | null;
              created_by: string;
              /** Format: date-time */
              created_at: string;
            };
          };
        };
      };
    };
    delete: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              version: string;
              /** Format: date-time */
              at: string;
              /** @enum {string} */
              status: "pending" | "canary" | "done" | "failed" | "cancelled" | "rolled_back";
              canary: {
                percent: number;
                minutes: number;
                started_at: string | null;
                ends_at: string | null;
                before_version: string | null;
                before: {
                  requests: number;
                  missing: number;
                  failed: number;
                };
                after: {
                  requests: number;
                  missing: number;
                  failed: number;
                };
              } | null;
              ended_at: string | null;
              created_by: string;
              /** Format: date-time */
              created_at: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/basemaps/{code}/default-history": {
    get: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                version: string | null;
                /** Format: date-time */
                since: string;
                until: string | null;
              }[];
              switches: {
                /** Format: uuid */
                id: string;
                version: string;
                /** Format: date-time */
                at: string;
                /** @enum {string} */
                status: "pending" | "canary" | "done" | "failed" | "cancelled" | "rolled_back";
                canary: {
                  percent: number;
                  minutes: number;
                  started_at: string | null;
                  ends_at: string | null;
                  before_version: string | null;
                  before: {
                    requests: number;
                    missing: number;
                    failed: number;
                  };
                  after: {
                    requests: number;
                    missing: number;
                    failed: number;
                  };
                } | null;
                ended_at: string | null;
                created_by: string;
                /** Format: date-time */
                created_at: string;
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/basemaps/{code}/versions/{version}/approve": {
    post: {
      parameters: {
        path: {
          code: string;
          version: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              version: string;
              /** @enum {string} */
              storage: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
              /** @enum {string} */
              format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
              formats?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt")[];
              tile_size: number;
              min_zoom: number;
              max_zoom: number;
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
              crs: string;
              coordinate_offset: "gcj02" | null;
              revision: number;
              available: boolean;
              /** Format: date-time */
              scanned_at: string;
              path: string;
              withdrawn: boolean;
              held: boolean;
              rejected_reason: string | null;
              overrides: {
                /** @enum {string} */
                storage?: "xyz" | "tms";
                /** @enum {string} */
                tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
                /** @enum {string} */
                format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                bounds?: [
                  number,
                  number,
                  number,
                  number
                ];
                min_zoom?: number;
                max_zoom?: number;
                name?: string;
                attribution?: string;
                /** @enum {string} */
                coordinate_offset?: "gcj02";
              };
              scanned: {
                storage: ("xyz" | "tms") | null;
                tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                /** @enum {string} */
                format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                bounds: [
                  number,
                  number,
                  number,
                  number
                ] | null;
                min_zoom: number;
                max_zoom: number;
                name: string | null;
                attribution: string | null;
                coordinate_offset: "gcj02" | null;
              };
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/basemaps/{code}/versions/{version}/reject": {
    post: {
      parameters: {
        path: {
          code: string;
          version: string;
        };
      };
      requestBody: {
        content: {
          "application/json": {
            reason: string;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              version: string;
              /** @enum {string} */
              storage: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
              /** @enum {string} */
              format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
              formats?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt")[];
              tile_size: number;
              min_zoom: number;
              max_zoom: number;
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
              crs: string;
              coordinate_offset: "gcj02" | null;
              revision: number;
              available: boolean;
              /** Format: date-time */
              scanned_at: string;
              path: string;
              withdrawn: boolean;
              held: boolean;
              rejected_reason: string | null;
              overrides: {
                /** @enum {string} */
                storage?: "xyz" | "tms";
                /** @enum {string} */
                tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
                /** @enum {string} */
                format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                bounds?: [
                  number,
                  number,
                  number,
                  number
                ];
                min_zoom?: number;
                max_zoom?: number;
                name?: string;
                attribution?: string;
                /** @enum {string} */
                coordinate_offset?: "gcj02";
              };
              scanned: {
                storage: ("xyz" | "tms") | null;
                tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                /** @enum {string} */
                format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                bounds: [
                  number,
                  number,
                  number,
                  number
                ] | null;
                min_zoom: number;
                max_zoom: number;
                name: string | null;
                attribution: string | null;
                coordinate_offset: "gcj02" | null;
              };
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/basemaps/{code}/versions/{version}/refresh": {
    post: {
      parameters: {
        path: {
          code: string;
          version: string;
        };
      };
      requestBody: {
        content: {
          "application/json": {
            bounds?: [
              number,
              number,
              number,
              number
            ];
            min_zoom?: number;
            max_zoom?: number;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              version: string;
              /** @enum {string} */
              storage: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
              /** @enum {string} */
              format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
              formats?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt")[];
              tile_size: number;
              min_zoom: number;
              max_zoom: number;
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
              crs: string;
              coordinate_offset: "gcj02" | null;
              revision: number;
              available: boolean;
              /** Format: date-time */
              scanned_at: string;
              path: string;
              withdrawn: boolean;
              held: boolean;
              rejected_reason: string | null;
              overrides: {
                /** @enum {string} */
                storage?: "xyz" | "tms";
                /** @enum {string} */
                tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
                /** @enum {string} */
                format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                bounds?: [
                  number,
                  number,
                  number,
                  number
                ];
                min_zoom?: number;
                max_zoom?: number;
                name?: string;
                attribution?: string;
                /** @enum {string} */
                coordinate_offset?: "gcj02";
              };
              scanned: {
                storage: ("xyz" | "tms") | null;
                tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
                /** @enum {string} */
                format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
                bounds: [
                  number,
                  number,
                  number,
                  number
                ] | null;
                min_zoom: number;
                max_zoom: number;
                name: string | null;
                attribution: string | null;
                coordinate_offset: "gcj02" | null;
              };
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/health/check": {
    post: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["HealthCheck"];
          };
        };
      };
    };
  };
  "/api/v1/admin/styles/bulk": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            /** @enum {string} */
            action: "withdraw" | "restore";
            ids?: string[];
            filter?: {
              q?: string;
              source_code?: string;
              /** @enum {string} */
              available?: "true" | "false";
              /** @enum {string} */
              withdrawn?: "true" | "false";
              /** @enum {string} */
              source_enabled?: "true" | "false";
              /** Format: uuid */
              scan?: string;
            };
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              matched: number;
              done: number;
              failed: {
                id: string;
                code: string;
                error: string;
                details: {
                  code: string;
                  params: {
                    [key: string]: string | number;
                  };
                }[];
              }[];
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/styles/{code}/document": {
    get: {
      parameters: {
        query?: {
          revision?: number;
        };
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              code: string;
              revision: number;
              revisions: {
                revision: number;
                /** Format: date-time */
                created_at: string;
              }[];
              bases: string[];
              document: {
                [key: string]: unknown;
              };
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/styles/import": {
    post: {
      parameters: {
        query?: {
          code?: string;
        };
      };
      requestBody: {
        content: {
          "application/json": Record<string, never>;
          "application/zip": string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              code: string;
              name: string;
              revision: number;
              available: boolean;
              source_code: string;
              style_url: string;
              sources: {
                name: string;
                /** @enum {string} */
                kind: "basemap" | "vector";
                code: string;
                version: string | null;
              }[];
              fonts: string[];
              sprites: string[];
              hosts: string[];
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              path: string;
              icons: string[];
              problems: {
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
              }[];
              withdrawn: boolean;
              source_enabled: boolean;
              files: number;
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/styles": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "code" | "-code" | "name" | "-name" | "source_code" | "-source_code" | "revision" | "-revision" | "available" | "-available" | "withdrawn" | "-withdrawn" | "created_at" | "-created_at" | "updated_at" | "-updated_at";
          limit?: number;
          offset?: number;
          source_code?: string;
          available?: "true" | "false";
          withdrawn?: "true" | "false";
          source_enabled?: "true" | "false";
          scan?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                code: string;
                name: string;
                revision: number;
                available: boolean;
                source_code: string;
                style_url: string;
                sources: {
                  name: string;
                  /** @enum {string} */
                  kind: "basemap" | "vector";
                  code: string;
                  version: string | null;
                }[];
                fonts: string[];
                sprites: string[];
                hosts: string[];
                /** Format: date-time */
                created_at: string;
                /** Format: date-time */
                updated_at: string;
                path: string;
                icons: string[];
                problems: {
                  message: string;
                  message_code: string | null;
                  message_params: {
                    [key: string]: string | number;
                  } | null;
                }[];
                withdrawn: boolean;
                source_enabled: boolean;
              }[];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/styles/{code}": {
    get: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              code: string;
              name: string;
              revision: number;
              available: boolean;
              source_code: string;
              style_url: string;
              sources: {
                name: string;
                /** @enum {string} */
                kind: "basemap" | "vector";
                code: string;
                version: string | null;
              }[];
              fonts: string[];
              sprites: string[];
              hosts: string[];
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              path: string;
              icons: string[];
              problems: {
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
              }[];
              withdrawn: boolean;
              source_enabled: boolean;
            };
          };
        };
      };
    };
    delete: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
              files: number;
            };
          };
        };
      };
    };
    patch: {
      parameters: {
        path: {
          code: string;
        };
      };
      requestBody: {
        content: {
          "application/json": {
            withdrawn: boolean;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              code: string;
              name: string;
              revision: number;
              available: boolean;
              source_code: string;
              style_url: string;
              sources: {
                name: string;
                /** @enum {string} */
                kind: "basemap" | "vector";
                code: string;
                version: string | null;
              }[];
              fonts: string[];
              sprites: string[];
              hosts: string[];
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              path: string;
              icons: string[];
              problems: {
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
              }[];
              withdrawn: boolean;
              source_enabled: boolean;
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/uploads": {
    post: {
      responses: never;
    };
  };
  "/api/v1/admin/uploads/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              received: number;
            };
          };
        };
      };
    };
    delete: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              received: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/uploads/{id}/import": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      requestBody: {
        content: {
          "application/json": {
            /** @enum {string} */
            kind: "basemap";
            file: string;
            bytes: number;
            code: string;
            version: string;
          } | {
            /** @enum {string} */
            kind: "vector";
            file: string;
            bytes: number;
            code: string;
          } | {
            /** @enum {string} */
            kind: "style";
            file: string;
            bytes: number;
            code?: string;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** @enum {string} */
              kind: "basemap" | "vector" | "style";
              code: string;
              version: string | null;
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/uploads/{id}/content": {
    put: {
      parameters: {
        query: {
          offset: number;
        };
        path: {
          id: string;
        };
      };
      requestBody: {
        content: {
          "application/octet-stream": string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              received: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/tokens/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Token"];
          };
        };
      };
    };
    delete: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
    patch: {
      parameters: {
        path: {
          id: string;
        };
      };
      requestBody: {
        content: {
          "application/json": {
            name?: string;
            basemap_codes?: string[];
            vector_codes?: string[];
            layer_codes?: string[];
            allowed_origins?: string[];
            allowed_networks?: (string)[];
            rate_limit?: {
              per_second: number;
              burst?: number;
            } | null;
            bounds?: [
              number,
              number,
              number,
              number
            ] | null;
            scopes?: ("read" | "slice" | "sign")[];
            expires_at?: (string) | 0;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              name: string;
              prefix: string;
              basemap_codes: string[];
              vector_codes: string[];
              layer_codes: string[];
              scopes: ("read" | "slice" | "sign")[];
              allowed_origins: string[];
              allowed_networks: string[];
              rate_limit: {
                per_second: number;
                burst: number;
              } | null;
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              expires_at: string | null;
              disabled_at: string | null;
              /** Format: date-time */
              created_at: string;
              first_used_at: string | null;
              first_used_from: string | null;
              last_used_at: string | null;
              last_used_from: string | null;
              last_refused_at: string | null;
              refused_by: {
                [key: string]: {
                  requests: number;
                  /** Format: date-time */
                  last_at: string;
                };
              };
              previous_prefix: string | null;
              previous_expires_at: string | null;
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/tokens/{id}/rotate": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      requestBody: {
        content: {
          "application/json": {
            grace_seconds?: number;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              name: string;
              prefix: string;
              basemap_codes: string[];
              vector_codes: string[];
              layer_codes: string[];
              scopes: ("read" | "slice" | "sign")[];
              allowed_origins: string[];
              allowed_networks: string[];
              rate_limit: {
                per_second: number;
                burst: number;
              } | null;
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              expires_at: string | null;
              disabled_at: string | null;
              /** Format: date-time */
              created_at: string;
              first_used_at: string | null;
              first_used_from: string | null;
              last_used_at: string | null;
              last_used_from: string | null;
              last_refused_at: string | null;
              refused_by: {
                [key: string]: {
                  requests: number;
                  /** Format: date-time */
                  last_at: string;
                };
              };
              previous_prefix: string | null;
              previous_expires_at: string | null;
              token: string;
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/preview-links": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            basemap_code: string;
            version?: string;
            /** @default 604800 */
            expires_in_seconds?: number;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              url: string;
              /** Format: date-time */
              expires_at: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/tokens/bulk": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            /** @enum {string} */
            action: "disable" | "extend" | "expire" | "grant" | "withdraw";
            ids?: string[];
            filter?: {
              q?: string;
              /** @enum {string} */
              kind?: "service" | "preview";
              /** @enum {string} */
              status?: "active" | "expired" | "disabled";
              /** @enum {string} */
              scope?: "read" | "slice" | "sign";
              basemap_code?: string;
              vector_code?: string;
              layer_code?: string;
              /** Format: date-time */
              expires_after?: string;
              expires_within?: string;
            };
            params?: {
              expires_at?: (string) | 0;
              basemap_codes?: string[];
              vector_codes?: string[];
              layer_codes?: string[];
            };
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              matched: number;
              done: number;
              failed: {
                id: string;
                code: string;
                error: string;
                details: {
                  code: string;
                  params: {
                    [key: string]: string | number;
                  };
                }[];
              }[];
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/tokens": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "created_at" | "-created_at" | "name" | "-name" | "prefix" | "-prefix" | "expires_at" | "-expires_at" | "disabled_at" | "-disabled_at" | "first_used_at" | "-first_used_at" | "last_used_at" | "-last_used_at";
          limit?: number;
          offset?: number;
          kind?: "service" | "preview";
          status?: "active" | "expired" | "disabled";
          scope?: "read" | "slice" | "sign";
          basemap_code?: string;
          vector_code?: string;
          layer_code?: string;
          expires_after?: string;
          expires_within?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["Token"][];
              total: number;
            };
          };
        };
      };
    };
    post: {
      requestBody: {
        content: {
          "application/json": {
            name: string;
            basemap_codes?: string[];
            vector_codes?: string[];
            layer_codes?: string[];
            allowed_origins?: string[];
            allowed_networks?: (string)[];
            rate_limit?: {
              per_second: number;
              burst?: number;
            } | null;
            bounds?: [
              number,
              number,
              number,
              number
            ] | null;
            scopes?: ("read" | "slice" | "sign")[];
            expires_at?: (string) | 0;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              name: string;
              prefix: string;
              basemap_codes: string[];
              vector_codes: string[];
              layer_codes: string[];
              scopes: ("read" | "slice" | "sign")[];
              allowed_origins: string[];
              allowed_networks: string[];
              rate_limit: {
                per_second: number;
                burst: number;
              } | null;
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              expires_at: string | null;
              disabled_at: string | null;
              /** Format: date-time */
              created_at: string;
              first_used_at: string | null;
              first_used_from: string | null;
              last_used_at: string | null;
              last_used_from: string | null;
              last_refused_at: string | null;
              refused_by: {
                [key: string]: {
                  requests: number;
                  /** Format: date-time */
                  last_at: string;
                };
              };
              previous_prefix: string | null;
              previous_expires_at: string | null;
              token: string;
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/tokens/{id}/disable": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              name: string;
              prefix: string;
              basemap_codes: string[];
              vector_codes: string[];
              layer_codes: string[];
              scopes: ("read" | "slice" | "sign")[];
              allowed_origins: string[];
              allowed_networks: string[];
              rate_limit: {
                per_second: number;
                burst: number;
              } | null;
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              expires_at: string | null;
              disabled_at: string | null;
              /** Format: date-time */
              created_at: string;
              first_used_at: string | null;
              first_used_from: string | null;
              last_used_at: string | null;
              last_used_from: string | null;
              last_refused_at: string | null;
              refused_by: {
                [key: string]: {
                  requests: number;
                  /** Format: date-time */
                  last_at: string;
                };
              };
              previous_prefix: string | null;
              previous_expires_at: string | null;
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/signed-urls": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            basemap_code?: string;
            style_code?: string;
            version?: string;
            expires_at: string;
            bounds?: [
              number,
              number,
              number,
              number
            ];
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SignedUrl"] | {
              style_code: string;
              /** Format: date-time */
              expires_at: string;
              style_url: string;
              url_template: string;
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/signing-keys": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "created_at" | "-created_at" | "signs_from" | "-signs_from" | "expires_at" | "-expires_at";
          limit?: number;
          offset?: number;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["SigningKey"][];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/signing-keys/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SigningKey"];
          };
        };
      };
    };
  };
  "/api/v1/admin/signing-keys/rotate": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            grace_seconds?: number;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
              items: components["schemas"]["SigningKey"][];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/targets": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "code" | "-code" | "name" | "-name" | "kind" | "-kind" | "url" | "-url" | "path" | "-path" | "mode" | "-mode" | "enabled" | "-enabled";
          limit?: number;
          offset?: number;
          kind?: "http" | "directory" | "bucket" | "purge";
          mode?: "notify" | "upload";
          enabled?: "true" | "false";
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["Target"][];
              total: number;
            };
          };
        };
      };
    };
    post: {
      requestBody: {
        content: {
          "application/json": {
            code: string;
            name?: string;
            /** @enum {string} */
            kind: "http" | "directory" | "bucket" | "purge";
            /** Format: uri */
            url?: string;
            path?: string;
            /** @enum {string} */
            mode?: "notify" | "upload";
            enabled?: boolean;
            secret?: string;
            has_secret?: unknown;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              code: string;
              name: string;
              /** @enum {string} */
              kind: "http" | "directory" | "bucket" | "purge";
              url: string | null;
              path: string | null;
              /** @enum {string} */
              mode: "notify" | "upload";
              enabled: boolean;
              has_secret: boolean;
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/targets/{code}": {
    get: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Target"];
          };
        };
      };
    };
    delete: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              confirmed: components["schemas"]["EdgePresence"][];
              pending: components["schemas"]["EdgePresence"][];
              files: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/targets/{code}/test": {
    post: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              delivered: boolean;
              status: number | null;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              answer: string;
              duration_ms: number;
              request: {
                /** @enum {string} */
                method: "POST";
                url: string;
                headers: {
                  [key: string]: string;
                };
                body: string;
              } | null;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/pushes": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            target_code: string;
            basemap_code: string;
            version: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            "application/json": components["schemas"]["PushRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/vector-pushes": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            target_code: string;
            vector_code: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            "application/json": components["schemas"]["VectorPushRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/push-records": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "status" | "-status" | "attempts" | "-attempts" | "next_attempt_at" | "-next_attempt_at" | "message" | "-message" | "target_code" | "-target_code" | "basemap_code" | "-basemap_code" | "version" | "-version";
          limit?: number;
          offset?: number;
          status?: "pending" | "retrying" | "succeeded" | "failed";
          acknowledged?: "true" | "false";
          target_code?: string;
          basemap_code?: string;
          version?: string;
          before?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["PushRecord"][];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/push-records/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              target_code: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              basemap_code: string;
              version: string;
              export_id: string | null;
              export: {
                bounds: [
                  number,
                  number,
                  number,
                  number
                ] | null;
                zoom_min: number;
                zoom_max: number;
              } | null;
              attempt_log: {
                /** Format: date-time */
                started_at: string;
                duration_ms: number;
                /** @enum {string} */
                outcome: "succeeded" | "failed" | "interrupted";
                http_status: number | null;
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                answer: string;
                request: {
                  /** @enum {string} */
                  method: "POST";
                  url: string;
                  headers: {
                    [key: string]: string;
                  };
                  body: string;
                } | null;
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/push-records/{id}/retry": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        202: {
          content: {
            "application/json": components["schemas"]["PushRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/push-records/{id}/cancel": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PushRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/push-records/{id}/acknowledge": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PushRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/push-records/bulk": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            /** @enum {string} */
            action: "retry" | "acknowledge" | "cancel";
            ids?: string[];
            filter?: {
              q?: string;
              /** @enum {string} */
              status?: "pending" | "retrying" | "succeeded" | "failed";
              /** @enum {string} */
              acknowledged?: "true" | "false";
              target_code?: string;
              basemap_code?: string;
              version?: string;
            };
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              matched: number;
              done: number;
              failed: {
                id: string;
                code: string;
                error: string;
                details: {
                  code: string;
                  params: {
                    [key: string]: string | number;
                  };
                }[];
              }[];
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/vector-push-records": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "status" | "-status" | "attempts" | "-attempts" | "next_attempt_at" | "-next_attempt_at" | "message" | "-message" | "target_code" | "-target_code" | "vector_code" | "-vector_code";
          limit?: number;
          offset?: number;
          status?: "pending" | "retrying" | "succeeded" | "failed";
          acknowledged?: "true" | "false";
          target_code?: string;
          vector_code?: string;
          before?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["VectorPushRecord"][];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/vector-push-records/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              target_code: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              vector_code: string;
              attempt_log: {
                /** Format: date-time */
                started_at: string;
                duration_ms: number;
                /** @enum {string} */
                outcome: "succeeded" | "failed" | "interrupted";
                http_status: number | null;
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                answer: string;
                request: {
                  /** @enum {string} */
                  method: "POST";
                  url: string;
                  headers: {
                    [key: string]: string;
                  };
                  body: string;
                } | null;
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/vector-push-records/{id}/retry": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        202: {
          content: {
            "application/json": components["schemas"]["VectorPushRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/vector-push-records/{id}/cancel": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["VectorPushRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/vector-push-records/{id}/acknowledge": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["VectorPushRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/vector-push-records/bulk": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            /** @enum {string} */
            action: "retry" | "acknowledge" | "cancel";
            ids?: string[];
            filter?: {
              q?: string;
              /** @enum {string} */
              status?: "pending" | "retrying" | "succeeded" | "failed";
              /** @enum {string} */
              acknowledged?: "true" | "false";
              target_code?: string;
              vector_code?: string;
            };
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              matched: number;
              done: number;
              failed: {
                id: string;
                code: string;
                error: string;
                details: {
                  code: string;
                  params: {
                    [key: string]: string | number;
                  };
                }[];
              }[];
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/purge-records": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "status" | "-status" | "attempts" | "-attempts" | "next_attempt_at" | "-next_attempt_at" | "message" | "-message" | "target_code" | "-target_code" | "basemap_code" | "-basemap_code" | "version" | "-version";
          limit?: number;
          offset?: number;
          status?: "pending" | "retrying" | "succeeded" | "failed";
          acknowledged?: "true" | "false";
          target_code?: string;
          basemap_code?: string;
          before?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["PurgeRecord"][];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/purge-records/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              target_code: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              basemap_code: string;
              version: string | null;
              attempt_log: {
                /** Format: date-time */
                started_at: string;
                duration_ms: number;
                /** @enum {string} */
                outcome: "succeeded" | "failed" | "interrupted";
                http_status: number | null;
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                answer: string;
                request: {
                  /** @enum {string} */
                  method: "POST";
                  url: string;
                  headers: {
                    [key: string]: string;
                  };
                  body: string;
                } | null;
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/purge-records/{id}/retry": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        202: {
          content: {
            "application/json": components["schemas"]["PurgeRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/purge-records/{id}/cancel": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PurgeRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/purge-records/{id}/acknowledge": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PurgeRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/event-records": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "status" | "-status" | "attempts" | "-attempts" | "next_attempt_at" | "-next_attempt_at" | "message" | "-message" | "target_code" | "-target_code" | "basemap_code" | "-basemap_code" | "version" | "-version";
          limit?: number;
          offset?: number;
          status?: "pending" | "retrying" | "succeeded" | "failed";
          acknowledged?: "true" | "false";
          target_code?: string;
          basemap_code?: string;
          before?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["EventRecord"][];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/event-records/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              target_code: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              event: string;
              basemap_code: string;
              version: string | null;
              attempt_log: {
                /** Format: date-time */
                started_at: string;
                duration_ms: number;
                /** @enum {string} */
                outcome: "succeeded" | "failed" | "interrupted";
                http_status: number | null;
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                answer: string;
                request: {
                  /** @enum {string} */
                  method: "POST";
                  url: string;
                  headers: {
                    [key: string]: string;
                  };
                  body: string;
                } | null;
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/event-records/{id}/retry": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        202: {
          content: {
            "application/json": components["schemas"]["EventRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/event-records/{id}/cancel": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["EventRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/event-records/{id}/acknowledge": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["EventRecord"];
          };
        };
      };
    };
  };
  "/api/v1/admin/exports": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "created_at" | "-created_at" | "finished_at" | "-finished_at" | "status" | "-status" | "basemap_code" | "-basemap_code" | "version" | "-version" | "target_code" | "-target_code" | "requested_by" | "-requested_by" | "progress" | "-progress" | "tiles" | "-tiles" | "bytes" | "-bytes";
          limit?: number;
          offset?: number;
          status?: "pending" | "running" | "succeeded" | "failed";
          basemap_code?: string;
          version?: string;
          target_code?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                /** Format: uuid */
                id: string;
                basemap_code: string;
                version: string;
                from_version: string | null;
                /** @enum {string} */
                format: "pmtiles" | "mbtiles" | "gpkg" | "tpkx";
                bounds: [
                  number,
                  number,
                  number,
                  number
                ] | null;
                zoom_min: number;
                zoom_max: number;
                target_code: string | null;
                push_id: string | null;
                publish_as: string | null;
                /** @enum {string} */
                status: "pending" | "running" | "succeeded" | "failed";
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                progress: number;
                tiles: number | null;
                bytes: number | null;
                download_url: string | null;
                requested_by: string;
                /** Format: date-time */
                created_at: string;
                finished_at: string | null;
                expires_at: string | null;
              }[];
              total: number;
            };
          };
        };
      };
    };
    post: {
      requestBody: {
        content: {
          "application/json": {
            basemap_code: string;
            version: string;
            from_version?: string;
            /**
             * @default pmtiles
             * @enum {string}
             */
            format?: "pmtiles" | "mbtiles" | "gpkg" | "tpkx";
            bounds?: [
              number,
              number,
              number,
              number
            ];
            zoom_min?: number;
            zoom_max?: number;
            target_code?: string;
            publish_as?: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              basemap_code: string;
              version: string;
              from_version: string | null;
              /** @enum {string} */
              format: "pmtiles" | "mbtiles" | "gpkg" | "tpkx";
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              zoom_min: number;
              zoom_max: number;
              target_code: string | null;
              push_id: string | null;
              publish_as: string | null;
              /** @enum {string} */
              status: "pending" | "running" | "succeeded" | "failed";
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              progress: number;
              tiles: number | null;
              bytes: number | null;
              download_url: string | null;
              requested_by: string;
              /** Format: date-time */
              created_at: string;
              finished_at: string | null;
              expires_at: string | null;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/exports/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              basemap_code: string;
              version: string;
              from_version: string | null;
              /** @enum {string} */
              format: "pmtiles" | "mbtiles" | "gpkg" | "tpkx";
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              zoom_min: number;
              zoom_max: number;
              target_code: string | null;
              push_id: string | null;
              publish_as: string | null;
              /** @enum {string} */
              status: "pending" | "running" | "succeeded" | "failed";
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              progress: number;
              tiles: number | null;
              bytes: number | null;
              download_url: string | null;
              requested_by: string;
              /** Format: date-time */
              created_at: string;
              finished_at: string | null;
              expires_at: string | null;
            };
          };
        };
      };
    };
    delete: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              basemap_code: string;
              version: string;
              from_version: string | null;
              /** @enum {string} */
              format: "pmtiles" | "mbtiles" | "gpkg" | "tpkx";
              bounds: [
                number,
                number,
                number,
                number
              ] | null;
              zoom_min: number;
              zoom_max: number;
              target_code: string | null;
              push_id: string | null;
              publish_as: string | null;
              /** @enum {string} */
              status: "pending" | "running" | "succeeded" | "failed";
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              progress: number;
              tiles: number | null;
              bytes: number | null;
              download_url: string | null;
              requested_by: string;
              /** Format: date-time */
              created_at: string;
              finished_at: string | null;
              expires_at: string | null;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/exports/{id}/file": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/vnd.pmtiles": unknown;
            "application/vnd.sqlite3": unknown;
            "application/geopackage+sqlite3": unknown;
            "application/octet-stream": unknown;
          };
        };
      };
    };
  };
  "/api/v1/admin/seeds": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "created_at" | "-created_at" | "started_at" | "-started_at" | "finished_at" | "-finished_at" | "status" | "-status" | "basemap_code" | "-basemap_code" | "requested_by" | "-requested_by" | "total" | "-total";
          limit?: number;
          offset?: number;
          status?: "pending" | "running" | "succeeded" | "failed";
          cancelled?: "true" | "false";
          basemap_code?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                /** Format: uuid */
                id: string;
                basemap_code: string;
                version: string;
                bounds: [
                  number,
                  number,
                  number,
                  number
                ];
                min_zoom: number;
                max_zoom: number;
                rate: number;
                /** @enum {string} */
                status: "pending" | "running" | "succeeded" | "failed";
                cancelled: boolean;
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                progress: number;
                total: number;
                done: number;
                failed: number;
                failures: {
                  z: number;
                  x: number;
                  y: number;
                  message: string;
                }[];
                requested_by: string;
                /** Format: date-time */
                created_at: string;
                started_at: string | null;
                finished_at: string | null;
              }[];
              total: number;
            };
          };
        };
      };
    };
    post: {
      requestBody: {
        content: {
          "application/json": {
            basemap_code: string;
            version: string;
            bounds: [
              number,
              number,
              number,
              number
            ];
            min_zoom: number;
            max_zoom: number;
            /** @default 10 */
            rate?: number;
          };
        };
      };
      responses: {
        202: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              basemap_code: string;
              version: string;
              bounds: [
                number,
                number,
                number,
                number
              ];
              min_zoom: number;
              max_zoom: number;
              rate: number;
              /** @enum {string} */
              status: "pending" | "running" | "succeeded" | "failed";
              cancelled: boolean;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              progress: number;
              total: number;
              done: number;
              failed: number;
              failures: {
                z: number;
                x: number;
                y: number;
                message: string;
              }[];
              requested_by: string;
              /** Format: date-time */
              created_at: string;
              started_at: string | null;
              finished_at: string | null;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/seeds/estimate": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            basemap_code: string;
            version: string;
            bounds: [
              number,
              number,
              number,
              number
            ];
            min_zoom: number;
            max_zoom: number;
            /** @default 10 */
            rate?: number;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              tiles: number;
              requests: number;
              bytes_estimate: number | null;
              seconds: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/seeds/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              basemap_code: string;
              version: string;
              bounds: [
                number,
                number,
                number,
                number
              ];
              min_zoom: number;
              max_zoom: number;
              rate: number;
              /** @enum {string} */
              status: "pending" | "running" | "succeeded" | "failed";
              cancelled: boolean;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              progress: number;
              total: number;
              done: number;
              failed: number;
              failures: {
                z: number;
                x: number;
                y: number;
                message: string;
              }[];
              requested_by: string;
              /** Format: date-time */
              created_at: string;
              started_at: string | null;
              finished_at: string | null;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/seeds/{id}/cancel": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        202: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              basemap_code: string;
              version: string;
              bounds: [
                number,
                number,
                number,
                number
              ];
              min_zoom: number;
              max_zoom: number;
              rate: number;
              /** @enum {string} */
              status: "pending" | "running" | "succeeded" | "failed";
              cancelled: boolean;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              progress: number;
              total: number;
              done: number;
              failed: number;
              failures: {
                z: number;
                x: number;
                y: number;
                message: string;
              }[];
              requested_by: string;
              /** Format: date-time */
              created_at: string;
              started_at: string | null;
              finished_at: string | null;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/notification-rules": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "created_at" | "-created_at" | "email" | "-email" | "target_code" | "-target_code";
          limit?: number;
          offset?: number;
          enabled?: "true" | "false";
          kind?: "push_failed" | "slice_failed" | "scan_failed" | "export_failed" | "unavailable" | "token_expiring" | "edge_gone";
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                /** Format: uuid */
                id: string;
                email: string | null;
                target_code: string | null;
                kinds: ("push_failed" | "slice_failed" | "scan_failed" | "export_failed" | "unavailable" | "token_expiring" | "edge_gone")[];
                enabled: boolean;
                /** Format: date-time */
                created_at: string;
              }[];
              total: number;
            };
          };
        };
      };
    };
    post: {
      requestBody: {
        content: {
          "application/json": {
            /** Format: uuid */
            id?: string;
            /** Format: email */
            email?: string;
            target_code?: string;
            kinds: ("push_failed" | "slice_failed" | "scan_failed" | "export_failed" | "unavailable" | "token_expiring" | "edge_gone")[];
            /** @default true */
            enabled?: boolean;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              email: string | null;
              target_code: string | null;
              kinds: ("push_failed" | "slice_failed" | "scan_failed" | "export_failed" | "unavailable" | "token_expiring" | "edge_gone")[];
              enabled: boolean;
              /** Format: date-time */
              created_at: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/notification-rules/{id}": {
    delete: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              email: string | null;
              target_code: string | null;
              kinds: ("push_failed" | "slice_failed" | "scan_failed" | "export_failed" | "unavailable" | "token_expiring" | "edge_gone")[];
              enabled: boolean;
              /** Format: date-time */
              created_at: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/notification-rules/{id}/test": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        202: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              target_code: string | null;
              email: string | null;
              event: string;
              subject: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/notification-records": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "status" | "-status" | "attempts" | "-attempts" | "next_attempt_at" | "-next_attempt_at" | "message" | "-message" | "target_code" | "-target_code";
          limit?: number;
          offset?: number;
          status?: "pending" | "retrying" | "succeeded" | "failed";
          acknowledged?: "true" | "false";
          before?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                status: "pending" | "retrying" | "succeeded" | "failed";
                attempts: number;
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                next_attempt_at: string | null;
                /** Format: date-time */
                created_at: string;
                /** Format: date-time */
                updated_at: string;
                acknowledged_at: string | null;
                target_code: string | null;
                email: string | null;
                event: string;
                subject: string;
              }[];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/notification-records/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              target_code: string | null;
              email: string | null;
              event: string;
              subject: string;
              attempt_log: {
                /** Format: date-time */
                started_at: string;
                duration_ms: number;
                /** @enum {string} */
                outcome: "succeeded" | "failed" | "interrupted";
                http_status: number | null;
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                answer: string;
                request: {
                  /** @enum {string} */
                  method: "POST";
                  url: string;
                  headers: {
                    [key: string]: string;
                  };
                  body: string;
                } | null;
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/notification-records/{id}/retry": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        202: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              target_code: string | null;
              email: string | null;
              event: string;
              subject: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/notification-records/{id}/cancel": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              target_code: string | null;
              email: string | null;
              event: string;
              subject: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/notification-records/{id}/acknowledge": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              target_code: string | null;
              email: string | null;
              event: string;
              subject: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/callback-records": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "status" | "-status" | "attempts" | "-attempts" | "next_attempt_at" | "-next_attempt_at" | "message" | "-message" | "callback_url" | "-callback_url";
          limit?: number;
          offset?: number;
          status?: "pending" | "retrying" | "succeeded" | "failed";
          acknowledged?: "true" | "false";
          job_id?: string;
          before?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                status: "pending" | "retrying" | "succeeded" | "failed";
                attempts: number;
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                next_attempt_at: string | null;
                /** Format: date-time */
                created_at: string;
                /** Format: date-time */
                updated_at: string;
                acknowledged_at: string | null;
                /** Format: uuid */
                job_id: string;
                callback_url: string;
              }[];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/callback-records/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              /** Format: uuid */
              job_id: string;
              callback_url: string;
              attempt_log: {
                /** Format: date-time */
                started_at: string;
                duration_ms: number;
                /** @enum {string} */
                outcome: "succeeded" | "failed" | "interrupted";
                http_status: number | null;
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                answer: string;
                request: {
                  /** @enum {string} */
                  method: "POST";
                  url: string;
                  headers: {
                    [key: string]: string;
                  };
                  body: string;
                } | null;
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/callback-records/{id}/retry": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        202: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              /** Format: uuid */
              job_id: string;
              callback_url: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/callback-records/{id}/cancel": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              /** Format: uuid */
              job_id: string;
              callback_url: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/callback-records/{id}/acknowledge": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: uuid */
              id: string;
              /** @enum {string} */
              status: "pending" | "retrying" | "succeeded" | "failed";
              attempts: number;
              message: string;
              message_code: string | null;
              message_params: {
                [key: string]: string | number;
              } | null;
              next_attempt_at: string | null;
              /** Format: date-time */
              created_at: string;
              /** Format: date-time */
              updated_at: string;
              acknowledged_at: string | null;
              /** Format: uuid */
              job_id: string;
              callback_url: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/slice/jobs/bulk": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            /** @enum {string} */
            action: "cancel" | "acknowledge";
            ids?: string[];
            filter?: {
              q?: string;
              /** @enum {string} */
              status?: "pending" | "running" | "succeeded" | "failed";
              /** @enum {string} */
              cancelled?: "true" | "false";
              /** @enum {string} */
              acknowledged?: "true" | "false";
              target_code?: string;
              requested_by?: string;
            };
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              matched: number;
              done: number;
              failed: {
                id: string;
                code: string;
                error: string;
                details: {
                  code: string;
                  params: {
                    [key: string]: string | number;
                  };
                }[];
              }[];
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/slice/jobs": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "created_at" | "-created_at" | "name" | "-name" | "code" | "-code" | "target_code" | "-target_code" | "status" | "-status" | "progress" | "-progress" | "requested_by" | "-requested_by" | "started_at" | "-started_at" | "finished_at" | "-finished_at";
          limit?: number;
          offset?: number;
          status?: "pending" | "running" | "succeeded" | "failed";
          cancelled?: "true" | "false";
          acknowledged?: "true" | "false";
          target_code?: string;
          requested_by?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                /** Format: uuid */
                id: string;
                code: string;
                name: string;
                source_count: number;
                target_code: string;
                output_root: string;
                zoom_min: number;
                zoom_max: number;
                zoom_max_native: boolean;
                tile_size: number;
                tile_format: string;
                /** @enum {string} */
                tile_matrix_set: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
                /** @enum {string} */
                encoding: "rgb" | "terrarium" | "mapbox";
                /** @enum {string} */
                resampling: "auto" | "nearest" | "bilinear" | "cubic";
                /** @enum {string} */
                output: "folder" | "pmtiles";
                /** @enum {string} */
                status: "pending" | "running" | "succeeded" | "failed";
                message: string;
                message_code: string | null;
                message_params: {
                  [key: string]: string | number;
                } | null;
                warnings?: {
                  code: string;
                  message: string;
                  params?: {
                    [key: string]: string | number;
                  };
                }[];
                log_path: string;
                callback_url: string;
                /** @enum {string} */
                callback_status: "" | "pending" | "retrying" | "succeeded" | "failed";
                callback_attempts?: number;
                callback_message?: string;
                callback_message_code?: string | null;
                callback_message_params?: {
                  [key: string]: string | number;
                } | null;
                /** Format: date-time */
                created_at: string;
                started_at: string | null;
                finished_at: string | null;
                requested_by: string;
                progress: number;
                cancelled: boolean;
                acknowledged_at: string | null;
              }[];
              total: number;
            };
          };
        };
      };
    };
    post: {
      requestBody: {
        content: {
          "application/json": {
            target_code: string;
            source_paths?: string[];
            source_path?: string;
            code?: string;
            name?: string;
            /** @default 0 */
            zoom_min?: number;
            zoom_max?: number | "native";
            /** @default 256 */
            tile_size?: 256 | 512;
            /** @default webp */
            tile_format?: string;
            /**
             * @default WebMercatorQuad
             * @enum {string}
             */
            tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
            /**
             * @default rgb
             * @enum {string}
             */
            encoding?: "rgb" | "terrarium" | "mapbox";
            /**
             * @default auto
             * @enum {string}
             */
            resampling?: "auto" | "nearest" | "bilinear" | "cubic";
            /** @enum {string} */
            output?: "folder" | "pmtiles";
            callback_url?: "" | string;
            requested_by?: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            "application/json": components["schemas"]["SliceJob"];
          };
        };
      };
    };
  };
  "/api/v1/admin/slice/jobs/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SliceJob"];
          };
        };
      };
    };
  };
  "/api/v1/admin/slice/jobs/{id}/cancel": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        202: {
          content: {
            "application/json": components["schemas"]["SliceJob"];
          };
        };
      };
    };
  };
  "/api/v1/admin/slice/jobs/{id}/acknowledge": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SliceJob"];
          };
        };
      };
    };
  };
  "/api/v1/admin/slice/jobs/{id}/log": {
    get: {
      parameters: {
        query?: {
          follow?: "0" | "1";
        };
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "text/plain": unknown;
          };
        };
      };
    };
  };
  "/api/v1/admin/slice/estimate": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            target_code: string;
            source_paths?: string[];
            source_path?: string;
            code?: string;
            name?: string;
            /** @default 0 */
            zoom_min?: number;
            zoom_max?: number | "native";
            /** @default 256 */
            tile_size?: 256 | 512;
            /** @default webp */
            tile_format?: string;
            /**
             * @default WebMercatorQuad
             * @enum {string}
             */
            tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
            /**
             * @default rgb
             * @enum {string}
             */
            encoding?: "rgb" | "terrarium" | "mapbox";
            /**
             * @default auto
             * @enum {string}
             */
            resampling?: "auto" | "nearest" | "bilinear" | "cubic";
            /** @enum {string} */
            output?: "folder" | "pmtiles";
            callback_url?: "" | string;
            requested_by?: string;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              tiles: number;
              bytes_estimate: number;
              temp_bytes_estimate: number;
              bounds: [
                number,
                number,
                number,
                number
              ];
              min_zoom: number;
              max_zoom: number;
              /** @enum {string} */
              engine: "gdal" | "wasm";
              native_zoom?: number;
              bytes_kept?: number;
              free_bytes: number;
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/slice/files": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "kind" | "-kind" | "name" | "-name" | "size" | "-size";
          limit?: number;
          offset?: number;
          kind?: "file" | "directory";
          dir?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: {
                name: string;
                path: string;
                /** @enum {string} */
                kind: "file" | "directory";
                size: number;
              }[];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/edges": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "started_at" | "-started_at" | "host" | "-host" | "pid" | "-pid" | "version" | "-version" | "seen_at" | "-seen_at" | "applied_revision" | "-applied_revision";
          limit?: number;
          offset?: number;
          host?: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["EdgePresence"][];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/edges/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["EdgePresence"];
          };
        };
      };
    };
  };
  "/api/v1/admin/audit": {
    get: {
      parameters: {
        query?: {
          q?: string;
          sort?: "id" | "-id" | "at" | "-at" | "address" | "-address" | "actor" | "-actor" | "action" | "-action" | "subject" | "-subject";
          limit?: number;
          offset?: number;
          actor?: string;
          action?: string;
          subject?: string;
          from?: string;
          to?: string;
          before?: number;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["AuditEntry"][];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/audit/export": {
    get: {
      parameters: {
        query?: {
          q?: string;
          actor?: string;
          action?: string;
          subject?: string;
          from?: string;
          to?: string;
          format?: "csv" | "ndjson";
        };
      };
      responses: {
        200: {
          content: {
            "text/csv": unknown;
            "application/x-ndjson": unknown;
          };
        };
      };
    };
  };
  "/api/v1/admin/audit/verify": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": {
              first_mismatch: {
                /** @enum {string} */
                reason: "altered" | "missing" | "inserted" | "early";
                chain_position: number | null;
                id: number | null;
                at: string | null;
                actor: string | null;
                action: string | null;
                subject: string | null;
              } | null;
              count: number;
              head: string;
              head_position: number;
              anchor_position: number;
              anchor_sha256: string;
              anchor_at: string | null;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/audit/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AuditEntry"];
          };
        };
      };
    };
  };
  "/api/v1/admin/events": {
    get: {
      responses: {
        200: {
          content: {
            "text/event-stream": unknown;
          };
        };
      };
    };
  };
  "/api/v1/admin/usage": {
    get: {
      parameters: {
        query: {
          q?: string;
          sort?: "at" | "-at" | "id" | "-id" | "requests" | "-requests" | "tiles" | "-tiles" | "tile_404" | "-tile_404" | "refused" | "-refused" | "bytes" | "-bytes";
          limit?: number;
          offset?: number;
          by: "token" | "basemap" | "version" | "vector" | "token,basemap" | "token,vector" | "basemap,token" | "vector,token";
          id?: string;
          token_id?: string;
          basemap_code?: string;
          vector_code?: string;
          from?: string;
          to?: string;
          step?: "hour" | "day" | "total";
          format?: "json" | "csv";
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              items: components["schemas"]["Usage"][];
              total: number;
            };
            "text/csv": string;
          };
        };
      };
    };
  };
  "/api/v1/admin/usage/cells": {
    get: {
      parameters: {
        query: {
          basemap: string;
          version?: string;
          kind?: "requests" | "misses";
          from?: string;
          to?: string;
          limit?: number;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["UsageCells"];
          };
        };
      };
    };
  };
  "/api/v1/admin/dashboard": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": {
              ledger: {
                basemaps: number;
                versions: number;
                versions_unavailable: number;
                vectors: number;
                vectors_unavailable: number;
                vectors_unbuilt: number;
              };
              tokens: {
                active: number;
                expired: number;
                disabled: number;
                items: components["schemas"]["Token"][];
              };
              pushes: {
                basemap_records: components["schemas"]["PushRecord"][];
                vector_records: components["schemas"]["VectorPushRecord"][];
              };
              layers: {
                code: string;
                version: string;
                source_paths: string[];
              }[];
              scan_sources: components["schemas"]["ScanSource"][];
              health: components["schemas"]["HealthCheck"] | null;
              edges: components["schemas"]["EdgePresence"][];
              audit: components["schemas"]["AuditEntry"][];
              warnings?: {
                code: string;
                message: string;
                params?: {
                  [key: string]: string | number;
                };
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/preview-token": {
    post: {
      requestBody: {
        content: {
          "application/json": {
            basemap_code?: string;
            basemap_codes?: string[];
            vector_code?: string;
            vector_codes?: string[];
            style_code?: string;
          };
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              token: string;
              /** Format: date-time */
              expires_at: string;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/settings": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": {
              config_file: string;
              items: {
                name: string;
                group: string;
                value: (string | number | boolean | (string | number)[]) | null;
                secret: boolean;
                is_set: boolean;
                is_default: boolean;
              }[];
              total: number;
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/dashboard/traffic": {
    get: {
      parameters: {
        query?: {
          range?: "hour" | "day" | "week" | "month";
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: date-time */
              since: string;
              points: {
                requests: number;
                tiles: number;
                tiles_missing: number;
                memory_hits: number;
                downloads: number;
                auth_failures: number;
                server_errors: number;
                bytes_sent: number;
                /** Format: date-time */
                at: string;
                seconds: number;
                latency?: {
                  p50: number;
                  p95: number;
                  p99: number;
                };
                memory_bytes?: number;
              }[];
              edges: {
                requests: number;
                tiles: number;
                tiles_missing: number;
                memory_hits: number;
                downloads: number;
                auth_failures: number;
                server_errors: number;
                bytes_sent: number;
                /** Format: date-time */
                at: string;
                seconds: number;
                latency?: {
                  p50: number;
                  p95: number;
                  p99: number;
                };
                memory_bytes?: number;
                /** Format: uuid */
                id: string;
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/edges/{id}/traffic": {
    get: {
      parameters: {
        query?: {
          range?: "hour" | "day";
        };
        path: {
          id: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": {
              /** Format: date-time */
              since: string;
              points: {
                requests: number;
                tiles: number;
                tiles_missing: number;
                memory_hits: number;
                downloads: number;
                auth_failures: number;
                server_errors: number;
                bytes_sent: number;
                /** Format: date-time */
                at: string;
                seconds: number;
                latency?: {
                  p50: number;
                  p95: number;
                  p99: number;
                };
                memory_bytes?: number;
              }[];
            };
          };
        };
      };
    };
  };
  "/api/v1/admin/dashboard/live": {
    get: {
      responses: {
        200: {
          content: {
            "text/event-stream": unknown;
          };
        };
      };
    };
  };
  "/tiles/{code}/tilejson.json": {
    get: {
      parameters: {
        query?: {
          at?: string;
        };
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["TileJson"];
          };
        };
      };
    };
  };
  "/tiles/{code}/{version}/tilejson.json": {
    get: {
      parameters: {
        path: {
          code: string;
          version: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["TileJson"];
          };
        };
      };
    };
  };
  "/vectors/{code}/tilejson.json": {
    get: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["TileJson"];
          };
        };
      };
    };
  };
  "/vectors/{code}/download": {
    get: {
      parameters: {
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/geo+json": {
              [key: string]: unknown;
            };
            "application/zip": string;
            "application/geopackage+sqlite3": string;
            "application/flatgeobuf": string;
            "application/x-ndjson": string;
            "application/vnd.google-earth.kml+xml": string;
            "application/vnd.google-earth.kmz": string;
            "application/gml+xml": string;
            "text/csv": string;
            "application/gpx+xml": string;
            "image/vnd.dxf": string;
          };
        };
      };
    };
  };
  "/styles/{code}/tilejson.json": {
    get: {
      parameters: {
        query?: {
          size?: 256 | 512;
        };
        path: {
          code: string;
        };
      };
      responses: {
        200: {
          content: {
            "application/json": Record<string, never>;
          };
        };
      };
    };
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    Error: {
      error: string;
    };
    Basemap: {
      code: string;
      name: string;
      default_version: string | null;
      versions: components["schemas"]["BasemapVersion"][];
      url_template: string;
      source_code: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
    };
    AdminBasemap: {
      code: string;
      name: string;
      default_version: string | null;
      versions: {
        version: string;
        /** @enum {string} */
        storage: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
        /** @enum {string} */
        format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
        formats?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt")[];
        tile_size: number;
        min_zoom: number;
        max_zoom: number;
        bounds: [
          number,
          number,
          number,
          number
        ] | null;
        tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
        crs: string;
        coordinate_offset: "gcj02" | null;
        revision: number;
        available: boolean;
        /** Format: date-time */
        scanned_at: string;
        path: string;
        withdrawn: boolean;
        held: boolean;
        rejected_reason: string | null;
        overrides: {
          /** @enum {string} */
          storage?: "xyz" | "tms";
          /** @enum {string} */
          tile_matrix_set?: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
          /** @enum {string} */
          format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
          bounds?: [
            number,
            number,
            number,
            number
          ];
          min_zoom?: number;
          max_zoom?: number;
          name?: string;
          attribution?: string;
          /** @enum {string} */
          coordinate_offset?: "gcj02";
        };
        scanned: {
          storage: ("xyz" | "tms") | null;
          tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
          /** @enum {string} */
          format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
          bounds: [
            number,
            number,
            number,
            number
          ] | null;
          min_zoom: number;
          max_zoom: number;
          name: string | null;
          attribution: string | null;
          coordinate_offset: "gcj02" | null;
        };
      }[];
      url_template: string;
      source_code: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
      upstream?: {
        /** @enum {string} */
        state: "open" | "closed";
        failures: number;
        message: string;
      };
      withdrawn: boolean;
      source_enabled: boolean;
      /** @enum {string} */
      cache_policy: "interface" | "private" | "shared";
      s_maxage: number | null;
      scanned_name: string;
      description: string | null;
      tags: string[];
      owner: string | null;
    };
    BasemapVersion: {
      version: string;
      /** @enum {string} */
      storage: "xyz" | "tms" | "mbtiles" | "pmtiles" | "esri_compact" | "esri_exploded" | "tpkx" | "vtpk" | "mapproxy_tc" | "mapproxy_mp" | "mapproxy_arcgis" | "quadkey" | "zyx" | "geopackage" | "cog" | "upstream";
      /** @enum {string} */
      format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
      formats?: ("png" | "jpg" | "webp" | "avif" | "pbf" | "mlt")[];
      tile_size: number;
      min_zoom: number;
      max_zoom: number;
      bounds: [
        number,
        number,
        number,
        number
      ] | null;
      tile_matrix_set: ("WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad") | string;
      crs: string;
      coordinate_offset: "gcj02" | null;
      revision: number;
      available: boolean;
      /** Format: date-time */
      scanned_at: string;
    };
    Vector: {
      code: string;
      name: string;
      /** @enum {string} */
      kind: "geojson" | "shapefile" | "geopackage" | "flatgeobuf" | "geojson_sequence" | "zipped_shapefile" | "kml" | "kmz" | "gml" | "csv" | "gpx" | "dxf" | "zipped_geodatabase" | "postgis" | "postgis-function";
      relative_path: string;
      file_name: string;
      size: number;
      /** Format: date-time */
      modified_at: string;
      available: boolean;
      source_code: string;
      download_url: string;
      revision: number;
      tiles: {
        /** @enum {string} */
        status: "none" | "building" | "ready" | "failed";
        message: string;
        message_code: string | null;
        message_params: {
          [key: string]: string | number;
        } | null;
        min_zoom: number | null;
        max_zoom: number | null;
        built_at: string | null;
        left_out: {
          [key: string]: number;
        };
      };
      crs: string | null;
      bounds: [
        number,
        number,
        number,
        number
      ] | null;
      geometry_type: ("Point" | "MultiPoint" | "LineString" | "MultiLineString" | "Polygon" | "MultiPolygon" | "GeometryCollection" | "MultiPatch" | "Geometry") | null;
      feature_count: number | null;
      fields: {
        name: string;
        /** @enum {string} */
        type: "string" | "number" | "boolean" | "date" | "json";
      }[] | null;
      encoding: string | null;
      encoding_source: ("format" | "cpg" | "table" | "operator") | null;
    };
    AdminVector: {
      code: string;
      name: string;
      /** @enum {string} */
      kind: "geojson" | "shapefile" | "geopackage" | "flatgeobuf" | "geojson_sequence" | "zipped_shapefile" | "kml" | "kmz" | "gml" | "csv" | "gpx" | "dxf" | "zipped_geodatabase" | "postgis" | "postgis-function";
      relative_path: string;
      file_name: string;
      size: number;
      /** Format: date-time */
      modified_at: string;
      available: boolean;
      source_code: string;
      download_url: string;
      revision: number;
      tiles: {
        /** @enum {string} */
        status: "none" | "building" | "ready" | "failed";
        message: string;
        message_code: string | null;
        message_params: {
          [key: string]: string | number;
        } | null;
        min_zoom: number | null;
        max_zoom: number | null;
        built_at: string | null;
        left_out: {
          [key: string]: number;
        };
      };
      crs: string | null;
      bounds: [
        number,
        number,
        number,
        number
      ] | null;
      geometry_type: ("Point" | "MultiPoint" | "LineString" | "MultiLineString" | "Polygon" | "MultiPolygon" | "GeometryCollection" | "MultiPatch" | "Geometry") | null;
      feature_count: number | null;
      fields: {
        name: string;
        /** @enum {string} */
        type: "string" | "number" | "boolean" | "date" | "json";
      }[] | null;
      encoding: string | null;
      encoding_source: ("format" | "cpg" | "table" | "operator") | null;
      path: string;
      tile_min_zoom: number | null;
      tile_max_zoom: number | null;
      tile_fields: string[] | null;
      withdrawn: boolean;
      source_enabled: boolean;
    };
    ScanSource: {
      code: string;
      name: string;
      /** @enum {string} */
      kind: "basemap" | "vector" | "style" | "service" | "postgis";
      path: string;
      has_password?: boolean;
      has_headers?: boolean;
      schemas?: string[];
      tables?: string[];
      functions?: string[];
      options?: {
        ttl_seconds?: number;
        statement_timeout_seconds?: number;
        srid?: number;
        id_column?: string;
        /** @description the columns that are published; default: all */
        properties?: string[];
        pool?: number;
        tables?: {
          [key: string]: {
            ttl_seconds?: number;
            statement_timeout_seconds?: number;
            srid?: number;
            id_column?: string;
            /** @description the columns that are published; default: all */
            properties?: string[];
          };
        };
      } | {
        ttl_seconds?: number;
        /** @enum {string} */
        format?: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
        min_zoom?: number;
        max_zoom?: number;
        tile_size?: 256 | 512;
        max_concurrent?: number;
        timeout_seconds?: number;
        meta_tiles?: number;
        stale_days?: number;
        subdomains?: string[];
      };
      layers?: (string | {
        name: string;
        code?: string;
      })[];
      enabled: boolean;
      /** @enum {string} */
      publish: "automatic" | "approval";
      schedule: ({
        every_seconds: number;
      } | {
        cron: string;
        time_zone?: string;
      }) | null;
      next_scan_at: string | null;
      watch: boolean;
      watch_problem: string | null;
      last_scan: components["schemas"]["Scan"] | null;
      queued_at: string | null;
    };
    Scan: {
      /** Format: uuid */
      id: string;
      /** @enum {string} */
      status: "running" | "succeeded" | "failed";
      /** @enum {string} */
      reason: "manual" | "schedule" | "watch" | "start";
      changed: string[] | null;
      next_scan_at: string | null;
      /** Format: date-time */
      started_at: string;
      finished_at: string | null;
      added: number;
      updated: number;
      missing: number;
      message: string;
      message_code: string | null;
      message_params: {
        [key: string]: string | number;
      } | null;
      warnings: number;
      steps: number;
      cancelled: boolean;
    };
    Token: {
      /** Format: uuid */
      id: string;
      name: string;
      prefix: string;
      basemap_codes: string[];
      vector_codes: string[];
      layer_codes: string[];
      scopes: ("read" | "slice" | "sign")[];
      allowed_origins: string[];
      allowed_networks: string[];
      rate_limit: {
        per_second: number;
        burst: number;
      } | null;
      bounds: [
        number,
        number,
        number,
        number
      ] | null;
      expires_at: string | null;
      disabled_at: string | null;
      /** Format: date-time */
      created_at: string;
      first_used_at: string | null;
      first_used_from: string | null;
      last_used_at: string | null;
      last_used_from: string | null;
      last_refused_at: string | null;
      refused_by: {
        [key: string]: {
          requests: number;
          /** Format: date-time */
          last_at: string;
        };
      };
      previous_prefix: string | null;
      previous_expires_at: string | null;
    };
    Target: {
      code: string;
      name: string;
      /** @enum {string} */
      kind: "http" | "directory" | "bucket" | "purge";
      url: string | null;
      path: string | null;
      /** @enum {string} */
      mode: "notify" | "upload";
      enabled: boolean;
      has_secret: boolean;
    };
    PushRecord: {
      /** Format: uuid */
      id: string;
      target_code: string;
      /** @enum {string} */
      status: "pending" | "retrying" | "succeeded" | "failed";
      attempts: number;
      message: string;
      message_code: string | null;
      message_params: {
        [key: string]: string | number;
      } | null;
      next_attempt_at: string | null;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
      acknowledged_at: string | null;
      basemap_code: string;
      version: string;
      export_id: string | null;
      export: {
        bounds: [
          number,
          number,
          number,
          number
        ] | null;
        zoom_min: number;
        zoom_max: number;
      } | null;
    };
    VectorPushRecord: {
      /** Format: uuid */
      id: string;
      target_code: string;
      /** @enum {string} */
      status: "pending" | "retrying" | "succeeded" | "failed";
      attempts: number;
      message: string;
      message_code: string | null;
      message_params: {
        [key: string]: string | number;
      } | null;
      next_attempt_at: string | null;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
      acknowledged_at: string | null;
      vector_code: string;
    };
    EventRecord: {
      /** Format: uuid */
      id: string;
      target_code: string;
      /** @enum {string} */
      status: "pending" | "retrying" | "succeeded" | "failed";
      attempts: number;
      message: string;
      message_code: string | null;
      message_params: {
        [key: string]: string | number;
      } | null;
      next_attempt_at: string | null;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
      acknowledged_at: string | null;
      event: string;
      basemap_code: string;
      version: string | null;
    };
    PurgeRecord: {
      /** Format: uuid */
      id: string;
      target_code: string;
      /** @enum {string} */
      status: "pending" | "retrying" | "succeeded" | "failed";
      attempts: number;
      message: string;
      message_code: string | null;
      message_params: {
        [key: string]: string | number;
      } | null;
      next_attempt_at: string | null;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
      acknowledged_at: string | null;
      basemap_code: string;
      version: string | null;
    };
    SignedUrl: {
      basemap_code: string;
      version: string | null;
      /** Format: date-time */
      expires_at: string;
      bounds: [
        number,
        number,
        number,
        number
      ] | null;
      url_template: string;
      tilejson_url: string;
      archive_url: string | null;
      warnings?: {
        code: string;
        message: string;
        params?: {
          [key: string]: string | number;
        };
      }[];
    };
    SigningKey: {
      /** Format: uuid */
      id: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      signs_from: string;
      expires_at: string | null;
    };
    SliceJob: {
      /** Format: uuid */
      id: string;
      code: string;
      name: string;
      source_count: number;
      source_paths: string[];
      target_code: string;
      output_root: string;
      zoom_min: number;
      zoom_max: number;
      zoom_max_native: boolean;
      tile_size: number;
      tile_format: string;
      /** @enum {string} */
      tile_matrix_set: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
      /** @enum {string} */
      encoding: "rgb" | "terrarium" | "mapbox";
      /** @enum {string} */
      resampling: "auto" | "nearest" | "bilinear" | "cubic";
      /** @enum {string} */
      output: "folder" | "pmtiles";
      /** @enum {string} */
      status: "pending" | "running" | "succeeded" | "failed";
      message: string;
      message_code: string | null;
      message_params: {
        [key: string]: string | number;
      } | null;
      warnings?: {
        code: string;
        message: string;
        params?: {
          [key: string]: string | number;
        };
      }[];
      log_path: string;
      callback_url: string;
      /** @enum {string} */
      callback_status: "" | "pending" | "retrying" | "succeeded" | "failed";
      callback_attempts?: number;
      callback_message?: string;
      callback_message_code?: string | null;
      callback_message_params?: {
        [key: string]: string | number;
      } | null;
      /** Format: date-time */
      created_at: string;
      started_at: string | null;
      finished_at: string | null;
      requested_by: string;
      progress: number;
      cancelled: boolean;
      acknowledged_at: string | null;
    };
    HealthCheck: {
      /** Format: date-time */
      checked_at: string;
      versions_checked: number;
      versions_missing: number;
      vectors_checked: number;
      vectors_missing: number;
    };
    EdgePresence: {
      /** Format: uuid */
      id: string;
      host: string;
      pid: number;
      version: string;
      /** Format: date-time */
      started_at: string;
      /** Format: date-time */
      seen_at: string;
      applied_revision: number;
      /** Format: uuid */
      applied_mark?: string;
      /** @enum {string} */
      path?: "bus" | "store";
      traffic?: {
        requests: number;
        tiles: number;
        tiles_missing: number;
        memory_hits: number;
        downloads: number;
        auth_failures: number;
        server_errors: number;
        bytes_sent: number;
        durations?: number[];
        remote_cache?: {
          kept_bytes: number;
          capacity_bytes: number;
          saved_bytes: number;
          fetched_bytes: number;
          failing: boolean;
        };
        memory_bytes?: number;
      };
    };
    AuditEntry: {
      id: number;
      /** Format: date-time */
      at: string;
      actor: string;
      address: string;
      action: string;
      subject: string;
      subject_name: string | null;
      before: {
        [key: string]: unknown;
      } | null;
      after: {
        [key: string]: unknown;
      } | null;
      detail: {
        [key: string]: unknown;
      };
      chain_position: number | null;
      previous_sha256: string | null;
      sha256: string | null;
    };
    Session: {
      name: string;
      actor: string;
      /** @enum {string} */
      role: "viewer" | "operator" | "admin";
      /** @enum {string} */
      by: "oidc" | "password" | "basic" | "bearer";
      expires_at: string | null;
    };
    Usage: {
      requests: number;
      tiles: number;
      tile_404: number;
      refused: number;
      bytes: number;
      id: string;
      name: string | null;
      token_id?: string;
      token_name?: string | null;
      basemap_code?: string;
      vector_code?: string;
      refused_by: {
        origin?: number;
        network?: number;
        grant?: number;
        scope?: number;
        expired?: number;
        disabled?: number;
        rate?: number;
      };
      /** Format: date-time */
      at: string;
    };
    UsageCells: {
      /** @constant */
      type: "FeatureCollection";
      total: number;
      requests: number;
      features: {
        /** @constant */
        type: "Feature";
        properties: {
          /** @enum {string} */
          tile_matrix_set: "WebMercatorQuad" | "WorldCRS84Quad" | "CGCS2000Quad";
          z: number;
          x: number;
          y: number;
          requests: number;
          tile_404: number;
        };
        geometry: {
          /** @constant */
          type: "Polygon";
          coordinates: number[][][];
        };
      }[];
    };
    TileJson: {
      /** @constant */
      tilejson: "3.0.0";
      name: string;
      description?: string;
      version?: string;
      attribution?: string;
      /** @constant */
      scheme: "xyz";
      tiles: string[];
      minzoom: number;
      maxzoom: number;
      bounds: number[];
      center: number[];
      /** @enum {string} */
      format: "png" | "jpg" | "webp" | "avif" | "pbf" | "mlt";
      tileSize: number;
      crs?: string;
      tile_matrix_set?: string;
      vector_layers?: {
        id: string;
        fields: {
          [key: string]: string;
        };
      }[];
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
