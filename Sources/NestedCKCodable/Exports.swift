// The name under which Swift packages import NestedCloudKitCodable.
@_exported public import NestedCloudKitCodable
