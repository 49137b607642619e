export declare const WITHOUT_GDAL: readonly string[]
