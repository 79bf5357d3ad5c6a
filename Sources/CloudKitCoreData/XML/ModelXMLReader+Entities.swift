import Foundation

extension ModelXMLReader {
    mutating func entity(_ node: ModelXMLNode) throws(CoreDataModelError) -> CoreDataModel.Entity {
        var head = ModelXMLAttributes(node, "an entity")
        let name = try head.required("name")
        var attributes = ModelXMLAttributes(node, name)
        attributes.ignore("name")
        var entity = CoreDataModel.Entity(name: name)
        entity.className = attributes.text("representedClassName")
        entity.isAbstract = try attributes.flag("isAbstract")
        entity.parent = attributes.text("parentEntity")
        entity.isSyncable = try attributes.flag("syncable", default: true)
        entity.codeGeneration = attributes.text("codeGenerationType")
        entity.renamingIdentifier = attributes.text("elementID")
        entity.versionHashModifier = attributes.text("versionHashModifier")
        note(attributes.unknown)
        for child in node.children { try read(child, into: &entity) }
        return entity
    }

    private mutating func read(
        _ child: ModelXMLNode,
        into entity: inout CoreDataModel.Entity
    ) throws(CoreDataModelError) {
        switch child.name {
        case "attribute": entity.attributes.append(try attribute(child, in: entity.name))
        case "relationship": entity.relationships.append(try relationship(child, in: entity.name))
        case "fetchedProperty":
            entity.fetchedProperties.append(try fetchedProperty(child, in: entity.name))
        case "fetchIndex": entity.fetchIndexes.append(try fetchIndex(child, in: entity.name))
        case "uniquenessConstraints":
            entity.uniquenessConstraints += try lists(
                child,
                of: "uniquenessConstraint",
                "constraint",
                in: entity.name
            )
        case "compoundIndexes":
            entity.compoundIndexes += try lists(
                child,
                of: "compoundIndex",
                "index",
                in: entity.name
            )
        case "userInfo": entity.userInfo = try userInfo(child, in: entity.name)
        default: note([child.unknown(in: entity.name)])
        }
    }

    mutating func attribute(
        _ node: ModelXMLNode,
        in entity: String
    ) throws(CoreDataModelError) -> CoreDataModel.Attribute {
        var head = ModelXMLAttributes(node, entity)
        let name = try head.required("name")
        let place = "\(entity).\(name)"
        var attributes = ModelXMLAttributes(node, place)
        attributes.ignore("name")
        // Old models omit the type of transient attributes.
        let type = CoreDataModel.AttributeType(
            name: attributes.text("attributeType") ?? "Undefined"
        )
        var attribute = CoreDataModel.Attribute(name: name, type: type)
        attribute.isOptional = try attributes.flag("optional")
        attribute.isTransient = try attributes.flag("transient")
        attribute.isIndexed = try attributes.flag("indexed")
        attribute.isDerived = try attributes.flag("derived")
        attribute.derivationExpression = attributes.text("derivationExpression")
        attribute.compositeName = attributes.text("composite")
        attribute.valueTransformerName = attributes.text("valueTransformerName")
        attribute.className = attributes.text("customClassName")
        attribute.allowsExternalStorage = try attributes.flag("allowsExternalBinaryDataStorage")
        attribute.allowsCloudEncryption = try attributes.flag("allowsCloudEncryption")
        attribute.isPreservedAfterDeletion = try attributes.flag("preserveAfterDeletion")
        attribute.isIndexedBySpotlight = try attributes.flag("spotlightIndexingEnabled")
        attribute.isStoredInExternalRecord = try attributes.flag("storedInTruthFile")
        attribute.usesScalarType = try attributes.flag("usesScalarValueType")
        attribute.isSyncable = try attributes.flag("syncable", default: true)
        attribute.renamingIdentifier = attributes.text("elementID")
        attribute.versionHashModifier = attributes.text("versionHashModifier")
        try readValues(&attributes, into: &attribute)
        note(attributes.unknown)
        for child in node.children {
            if child.name == "userInfo" {
                attribute.userInfo = try userInfo(child, in: place)
            } else {
                note([child.unknown(in: place)])
            }
        }
        return attribute
    }

    private func readValues(
        _ attributes: inout ModelXMLAttributes,
        into attribute: inout CoreDataModel.Attribute
    ) throws(CoreDataModelError) {
        attribute.regularExpression = attributes.text("regularExpressionString")
        if attribute.type == .date {
            // The text beside it only serves the editor's display.
            attributes.ignore("defaultValueString", "minValueString", "maxValueString")
            attribute.defaultValue = try attributes.date("defaultDateTimeInterval")
            attribute.minimum = try attributes.date("minDateTimeInterval")
            attribute.maximum = try attributes.date("maxDateTimeInterval")
            return
        }
        attribute.defaultValue = try attributes.value("defaultValueString", as: attribute.type)
        // The bounds of text are those of its length.
        let bounds = attribute.type == .string ? .integer64 : attribute.type
        attribute.minimum = try attributes.value("minValueString", as: bounds)
        attribute.maximum = try attributes.value("maxValueString", as: bounds)
    }

    private mutating func relationship(
        _ node: ModelXMLNode,
        in entity: String
    ) throws(CoreDataModelError) -> CoreDataModel.Relationship {
        var head = ModelXMLAttributes(node, entity)
        let name = try head.required("name")
        let place = "\(entity).\(name)"
        var attributes = ModelXMLAttributes(node, place)
        attributes.ignore("name")
        var relationship = CoreDataModel.Relationship(
            name: name,
            destination: try attributes.required("destinationEntity")
        )
        relationship.inverseName = attributes.text("inverseName")
        relationship.inverseEntity = attributes.text("inverseEntity")
        relationship.isOptional = try attributes.flag("optional")
        relationship.isTransient = try attributes.flag("transient")
        relationship.isToMany = try attributes.flag("toMany")
        relationship.isOrdered = try attributes.flag("ordered")
        relationship.minimumCount = try attributes.count("minCount")
        relationship.maximumCount = try attributes.count("maxCount")
        relationship.isSyncable = try attributes.flag("syncable", default: true)
        relationship.renamingIdentifier = attributes.text("elementID")
        relationship.versionHashModifier = attributes.text("versionHashModifier")
        attributes.ignore("spotlightIndexingEnabled", "storedInTruthFile", "indexed")
        if let rule = attributes.text("deletionRule") {
            guard let known = CoreDataModel.DeleteRule.allCases.first(where: { $0.name == rule })
            else {
                let names = CoreDataModel.DeleteRule.allCases.map(\.name).joined(separator: ", ")
                throw attributes.failure("deletionRule is \(rule.prefix(60)), none of \(names)")
            }
            relationship.deleteRule = known
        }
        note(attributes.unknown)
        for child in node.children {
            if child.name == "userInfo" {
                relationship.userInfo = try userInfo(child, in: place)
            } else {
                note([child.unknown(in: place)])
            }
        }
        return relationship
    }

    private mutating func fetchedProperty(
        _ node: ModelXMLNode,
        in entity: String
    ) throws(CoreDataModelError) -> CoreDataModel.FetchedProperty {
        var head = ModelXMLAttributes(node, entity)
        let name = try head.required("name")
        let place = "\(entity).\(name)"
        var property = CoreDataModel.FetchedProperty(name: name, request: nil)
        property.isOptional = try head.flag("optional")
        head.ignore("syncable", "transient")
        note(head.unknown)
        for child in node.children {
            switch child.name {
            case "fetchRequest": property.request = try fetchRequest(child, in: place)
            case "userInfo": property.userInfo = try userInfo(child, in: place)
            default: note([child.unknown(in: place)])
            }
        }
        return property
    }

    private mutating func fetchIndex(
        _ node: ModelXMLNode,
        in entity: String
    ) throws(CoreDataModelError) -> CoreDataModel.FetchIndex {
        var head = ModelXMLAttributes(node, entity)
        var index = CoreDataModel.FetchIndex(name: try head.required("name"), elements: [])
        note(head.unknown)
        for child in node.children {
            let place = "\(entity), index \(index.name)"
            guard child.name == "fetchIndexElement" else {
                note([child.unknown(in: place)])
                continue
            }
            var attributes = ModelXMLAttributes(child, place)
            var element = CoreDataModel.FetchIndex.Element(
                property: attributes.text("property"),
                expression: attributes.text("expression")
            )
            element.expressionType = attributes.text("expressionType")
                .map(CoreDataModel.AttributeType.init(name:))
            element.isRTree = attributes.text("type") == "RTree"
            element.isAscending = attributes.text("order") != "descending"
            note(attributes.unknown)
            index.elements.append(element)
        }
        return index
    }

    /// Returns lists of values in nested elements.
    private mutating func lists(
        _ node: ModelXMLNode,
        of list: String,
        _ item: String,
        in entity: String
    ) throws(CoreDataModelError) -> [[String]] {
        var found: [[String]] = []
        for child in node.children {
            guard child.name == list else {
                note([child.unknown(in: entity)])
                continue
            }
            var values: [String] = []
            for value in child.children where value.name == item {
                var attributes = ModelXMLAttributes(value, entity)
                values.append(try attributes.required("value"))
                note(attributes.unknown)
            }
            note(child.children.filter { $0.name != item }.map { $0.unknown(in: entity) })
            found.append(values)
        }
        return found
    }
}
