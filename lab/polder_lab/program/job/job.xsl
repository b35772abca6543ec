<?xml version="1.0"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="xml" indent="yes" encoding="UTF-8"/>
  <xsl:key name="kinds" match="item" use="@kind"/>
  <xsl:template match="/orders">
    <report>
      <xsl:for-each select="//item[generate-id() = generate-id(key('kinds', @kind)[1])]">
        <xsl:sort select="@kind"/>
        <kind name="{@kind}" count="{count(key('kinds', @kind))}" total="{sum(key('kinds', @kind)/@price)}"/>
      </xsl:for-each>
      <xsl:apply-templates select="order">
        <xsl:sort select="@day" data-type="number" order="descending"/>
        <xsl:sort select="count(item)" data-type="number"/>
      </xsl:apply-templates>
    </report>
  </xsl:template>
  <xsl:template match="order">
    <order id="{concat('o', @id)}" dear="{count(item[@price &gt; 450])}"><xsl:apply-templates select="item"/></order>
  </xsl:template>
  <xsl:template match="item[@price &lt; 100]"><cheap><xsl:value-of select="substring-after(name, ' ')"/></cheap></xsl:template>
  <xsl:template match="item">
    <item><xsl:value-of select="translate(normalize-space(note), 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')"/></item>
  </xsl:template>
</xsl:stylesheet>
